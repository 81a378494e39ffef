import { Button } from '@mantine/core';
import { FilterSelect } from '#web/lists/filter-select.tsx';
import { TimeframeFilter } from '#web/lists/timeframe-filter.tsx';
import type { PriceLogsSearch } from './price-logs-search.ts';

interface PriceLogFiltersProps {
  search: PriceLogsSearch;
  lists: { tokens: string[]; processors: string[]; timeframes: string[] };
  onSearch: (change: PriceLogsSearch) => void;
}

/** Changing any filter goes back to page 1. */
export function PriceLogFilters({ search, lists, onSearch }: PriceLogFiltersProps) {
  const filter = (change: PriceLogsSearch) => onSearch({ ...change, page: undefined });
  return (
    <>
      <FilterSelect
        label="Token"
        allLabel="All tokens"
        value={search.token}
        options={lists.tokens}
        onChange={(token) => filter({ token })}
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
        onClick={() => filter({ token: undefined, timeframe: undefined, processor: undefined })}
      >
        Clear Filters
      </Button>
    </>
  );
}
