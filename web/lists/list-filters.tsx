import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { displayTimeframe, sameTimeframe } from '#domain/timeframe.ts';
import { FailedQueries } from '../ui/failed-queries.tsx';
import { FilterSelect } from './filter-select.tsx';

export interface ListFilter<Search> {
  /** The URL parameter. */
  name: keyof Search & string;
  /** Accessible name, e.g. 'Token'. */
  label: string;
  /** Path segment of its choices below the list's path, e.g. 'tokens'; fetched unless `choices` is given. */
  list: string;
  choices?: readonly string[];
  display?: (choice: string) => string;
  /** Whether a URL value is another spelling of a choice. */
  matches?: (choice: string, value: string) => boolean;
}

/** The URL may spell a timeframe in any way. */
export const TIMEFRAME_FILTER = {
  name: 'timeframe',
  label: 'Timeframe',
  list: 'timeframes',
  display: displayTimeframe,
  matches: sameTimeframe,
} as const;

interface ListFiltersProps<Search> {
  /** API path of the list. */
  path: string;
  filters: readonly ListFilter<Search>[];
  search: Search;
  onSearch: (change: Search) => void;
  hasClear?: boolean | undefined;
}

/** Changing any filter returns to page 1. */
export function ListFilters<Search>({ path, filters, search, onSearch, hasClear }: ListFiltersProps<Search>) {
  const change = (values: Partial<Record<string, string>>) =>
    onSearch({ ...values, page: undefined } as Search);
  return (
    <>
      {filters.map((filter) => (
        <ChoiceFilter
          key={filter.name}
          path={path}
          filter={filter}
          value={search[filter.name] as string | undefined}
          onChange={(value) => change({ [filter.name]: value })}
        />
      ))}
      {hasClear ? (
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          onClick={() => change(Object.fromEntries(filters.map(({ name }) => [name, undefined])))}
        >
          Clear Filters
        </Button>
      ) : null}
    </>
  );
}

interface ChoiceFilterProps<Search> {
  path: string;
  filter: ListFilter<Search>;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function ChoiceFilter<Search>({ path, filter, value, onChange }: ChoiceFilterProps<Search>) {
  const { label, list, display = String, matches } = filter;
  const { data: choices = filter.choices ?? [] } = useChoices(path, filter);
  const matching = value && matches && choices.find((choice) => matches(choice, value));
  return (
    <FilterSelect
      label={label}
      allLabel={`All ${list}`}
      value={matching || value}
      options={choices.map((choice) => ({ value: choice, label: display(choice) }))}
      onChange={onChange}
    />
  );
}

/** Choices that could not be fetched, each with a retry. */
export const FailedChoices = <Search,>(props: Pick<ListFiltersProps<Search>, 'path' | 'filters'>) =>
  props.filters.map((filter) => <FailedChoice key={filter.name} path={props.path} filter={filter} />);

function FailedChoice<Search>({ path, filter }: { path: string; filter: ListFilter<Search> }) {
  const query = useChoices(path, filter);
  return <FailedQueries queries={[{ title: `Failed to fetch ${filter.list}`, query }]} />;
}

const useChoices = <Search,>(path: string, { list, choices }: ListFilter<Search>) =>
  useQuery<string[]>({ queryKey: [`${path}/${list}`], enabled: choices === undefined });
