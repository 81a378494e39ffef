import { Button } from '@mantine/core';
import { FilterSelect } from '#web/lists/filter-select.tsx';
import { TimeframeFilter } from '#web/lists/timeframe-filter.tsx';
import type { SignalsSearch } from './signals-search.ts';

interface SignalFiltersProps {
  search: SignalsSearch;
  lists: { tokens: string[]; processors: string[]; timeframes: string[] };
  onSearch: (change: SignalsSearch) => void;
}

const ACTIONS = [
  { value: 'buy', label: 'Buy' },
  { value: 'sell', label: 'Sell' },
];

/** Changing any filter goes back to page 1. */
export function SignalFilters({ search, lists, onSearch }: SignalFiltersProps) {
  const filter = (change: SignalsSearch) => onSearch({ ...change, page: undefined });
  return (
    <>
      <FilterSelect
        label="Token"
        allLabel="All tokens"
        value={search.token}
        options={lists.tokens}
        onChange={(token) => filter({ token })}
      />
      <FilterSelect
        label="Action"
        allLabel="All actions"
        value={search.action}
        options={ACTIONS}
        onChange={(action) => filter({ action: action === 'buy' || action === 'sell' ? action : undefined })}
      />
      <TimeframeFilter
        value={search.timeframe}
        timeframes={lists.timeframes}
        onChange={(timeframe) => filter({ timeframe })}
      />
      <FilterSelect
        label="Processor"
        allLabel="All processors"
        value={search.processor}
        options={lists.processors}
        onChange={(processor) => filter({ processor })}
      />
      <Button
        variant="subtle"
        color="gray"
        size="xs"
        onClick={() =>
          filter({ token: undefined, action: undefined, timeframe: undefined, processor: undefined })
        }
      >
        Clear Filters
      </Button>
    </>
  );
}
