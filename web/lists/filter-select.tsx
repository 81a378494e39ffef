import { Select } from '../forms/select.tsx';
import classes from './filter-select.module.css';

interface FilterSelectProps {
  /** Accessible name, e.g. 'Token'. */
  label: string;
  /** Label of the choice without a filter, e.g. 'All tokens'. */
  allLabel: string;
  value: string | undefined;
  options: readonly (string | { value: string; label: string })[];
  onChange: (value: string | undefined) => void;
}

/** An empty choice means no filter. A URL value missing from the list stays visible. */
export function FilterSelect({ label, allLabel, value, options, onChange }: FilterSelectProps) {
  const data = options.map((option) =>
    typeof option === 'string' ? { value: option, label: option } : option,
  );
  if (value !== undefined && !data.some((option) => option.value === value)) {
    data.push({ value, label: value });
  }
  return (
    <Select
      className={classes.select}
      size="xs"
      aria-label={label}
      data-filter
      data-empty={value === undefined || undefined}
      data={[{ value: '', label: allLabel }, ...data]}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    />
  );
}
