import { displayTimeframe, sameTimeframe } from '#domain/timeframe.ts';
import { FilterSelect } from './filter-select.tsx';

interface TimeframeFilterProps {
  /** From the address, in any way of writing it. */
  value: string | undefined;
  /** One for each meaning. */
  timeframes: readonly string[];
  onChange: (timeframe: string | undefined) => void;
}

export function TimeframeFilter({ value, timeframes, onChange }: TimeframeFilterProps) {
  const offered = value && timeframes.find((timeframe) => sameTimeframe(timeframe, value));
  return (
    <FilterSelect
      label="Timeframe"
      allLabel="All timeframes"
      value={offered ?? value}
      options={timeframes.map((timeframe) => ({ value: timeframe, label: displayTimeframe(timeframe) }))}
      onChange={onChange}
    />
  );
}
