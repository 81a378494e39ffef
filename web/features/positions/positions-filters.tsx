import { FilterSelect } from '#web/lists/filter-select.tsx';
import type { PositionsSearch } from './positions-search.ts';

interface PositionsFiltersProps {
  search: PositionsSearch;
  onSearch: (change: PositionsSearch) => void;
  users: readonly { id: string; username: string }[];
  tokens: readonly string[];
}

export function PositionsFilters({ search, onSearch, users, tokens }: PositionsFiltersProps) {
  return (
    <>
      <FilterSelect
        label="User"
        allLabel="All users"
        value={search.userId}
        options={users.map(({ id, username }) => ({ value: id, label: username }))}
        onChange={(userId) => onSearch({ userId })}
      />
      <FilterSelect
        label="Token"
        allLabel="All tokens"
        value={search.token}
        options={tokens}
        onChange={(token) => onSearch({ token })}
      />
    </>
  );
}
