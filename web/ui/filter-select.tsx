import { Select } from '@mantine/core';
import classes from './filter-select.module.css';

interface FilterSelectProps {
  /** Shown while nothing is chosen, and the accessible name, e.g. 'Token'. */
  label: string;
  allLabel: string;
  value: string | undefined;
  options: readonly string[] | readonly { value: string; label: string }[];
  onChange: (value: string | undefined) => void;
}

const ALL = '';

/** An empty choice means no filter. A value from the address that no list offers stays visible. */
export function FilterSelect({ label, allLabel, value, options, onChange }: FilterSelectProps) {
  const listed = options.map((option) =>
    typeof option === 'string' ? { value: option, label: option } : option,
  );
  const data = [{ value: ALL, label: allLabel }, ...listed];
  if (value !== undefined && !listed.some((option) => option.value === value)) {
    data.push({ value, label: value });
  }
  return (
    <Select
      className={classes.select}
      size="xs"
      aria-label={label}
      placeholder={label}
      data={data}
      value={value ?? null}
      searchable={listed.length > 12}
      onChange={(chosen) => onChange(chosen === ALL || chosen === null ? undefined : chosen)}
    />
  );
}
