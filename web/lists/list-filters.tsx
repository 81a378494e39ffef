import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { displayTimeframe, distinctTimeframes, sameTimeframe } from '#domain/timeframe.ts';
import { OUTCOME_KINDS } from '#domain/workflow/outcome-kinds.ts';
import { capitalise } from '../lib/format.ts';
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
  /** The fetched choices in the order in which they are offered. */
  arrange?: (choices: readonly string[]) => string[];
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
  arrange: distinctTimeframes,
} as const;

export const OUTCOME_FILTER = {
  name: 'outcome',
  label: 'Outcome',
  list: 'outcomes',
  choices: OUTCOME_KINDS,
  display: (kind: string) => capitalise(kind.replaceAll('_', ' ')),
} as const;

interface ListFiltersProps<Search> {
  /** API path of the list. */
  path: string;
  filters: readonly ListFilter<Search>[];
  /** URL parameters of filters in `more`. */
  fields: readonly (keyof Search & string)[];
  search: Search;
  onSearch: (change: Search) => void;
  hasClear?: boolean | undefined;
  /** Shown after the choices. */
  more?: ReactNode;
}

/** Changing any filter returns to page 1. */
export function ListFilters<Search>(props: ListFiltersProps<Search>) {
  const { path, filters, fields, search, onSearch, hasClear, more } = props;
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
      {more}
      {hasClear ? (
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          onClick={() => {
            const names = [...filters.map(({ name }) => name), ...fields];
            change(Object.fromEntries(names.map((name) => [name, undefined])));
          }}
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
  const { label, list, display = String, arrange, matches } = filter;
  const { data: offered = filter.choices ?? [] } = useChoices(path, filter);
  const choices = arrange ? arrange(offered) : offered;
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
