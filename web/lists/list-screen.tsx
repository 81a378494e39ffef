import { useMediaQuery } from '@mantine/hooks';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type ComponentType, type ReactNode, useMemo } from 'react';
import { requestJson } from '../lib/api-client.ts';
import type { ExportSource } from '../lib/csv-export.ts';
import { countPages } from '../lib/format.ts';
import { usePoll } from '../lib/live/live-context.tsx';
import { useSession } from '../lib/session.ts';
import { LiveStatus } from '../ui/live-status.tsx';
import { Page } from '../ui/page.tsx';
import { RefreshButton } from '../ui/refresh-button.tsx';
import { ColumnsMenu } from './columns-menu.tsx';
import type { TableColumns } from './data-table.tsx';
import { ExportButton } from './export-button.tsx';
import { useHiddenColumns } from './hidden-columns.ts';
import { FailedChoices, type ListFilter, ListFilters } from './list-filters.tsx';
import { ListPanel } from './list-panel.tsx';
import classes from './list-screen.module.css';
import { Pager, type PagerProps } from './pager.tsx';
import { AT_ONCE, PHONE, type RowPanel } from './row-panel.ts';
import type { Order, Sorting } from './sort-head.tsx';
import { SortSelect } from './sort-select.tsx';
import { Split } from './split.tsx';
import { useLastPage } from './use-last-page.ts';

export interface ListPagerProps extends PagerProps {
  pageSize: number;
  /** Undefined while unknown, such as after a failed fetch. */
  total: number | undefined;
}

/** A server-side list with the URL's filters and page. */
interface ListSource<Search> {
  path: string;
  filters: readonly ListFilter<Search>[];
  /** URL parameters of filters that the screen shows itself, in `moreFilters`. */
  fields?: readonly (keyof Search & string)[];
  pageSize: number;
  search: Search;
  /** The query parameter that ends the list at an instant, which is included. */
  untilParam?: 'until' | 'to';
}

type PagedSearch = { page?: number | undefined; sort?: string | undefined; order?: Order | undefined };

const chosenFilters = <Search,>({ filters, fields = [], search }: ListSource<Search>) =>
  Object.fromEntries(
    [...filters.map(({ name }) => name), ...fields].map((name) => [name, search[name] as string | undefined]),
  );

/**
 * The page in the URL. The previous page stays until it arrives. `pollMs`: 0 for never. `announced`: false for a list
 * whose changes no event announces, which is fetched again whenever its screen opens.
 */
export function useList<Answer, Search extends PagedSearch>(
  source: ListSource<Search>,
  { pollMs = 0, announced = true } = {},
): UseQueryResult<Answer> {
  const { path, pageSize, search } = source;
  return useQuery<Answer>({
    queryKey: [
      path,
      {
        page: search.page ?? 1,
        limit: pageSize,
        sort: search.sort,
        order: search.order,
        ...chosenFilters(source),
      },
    ],
    placeholderData: keepPreviousData,
    refetchInterval: usePoll(pollMs),
    ...(announced ? {} : { staleTime: 0 }),
  });
}

export type CsvFormat<Row> = Pick<ExportSource<Row>, 'columns' | 'receivedAt'>;

interface ListScreenProps<Answer, Row, Search> {
  /** Name of the exported file and of the stored column choice. */
  name: string;
  title: string;
  subtitle: string;
  /** Shown beside the page title. */
  links?: ReactNode;
  /** Shown between the page title and the list. */
  above?: ReactNode;
  panelTitle: string;
  description: string;
  /** Accessible name of the table. */
  label?: string;
  source: ListSource<Search>;
  query: UseQueryResult<Answer>;
  rowsOf: (answer: Answer) => readonly Row[];
  columns: TableColumns<Row>;
  emptyText: string;
  errorTitle: string;
  hasClear?: boolean;
  /** The chips of time ranges, shown beside the title. */
  range?: ReactNode;
  /** Shown after the choices of `filters`. */
  moreFilters?: ReactNode;
  /** The heads of columns with `sort` change the order, which the URL holds. */
  sortable?: boolean;
  /** On a phone, shows a card per row instead of a table that scrolls. */
  cards?: boolean;
  rowPanel?: RowPanel<Row> | undefined;
  /** On a phone, a card of two lines per row instead of the table. */
  card?: (row: Row) => ReactNode;
  /** Shown beside the list, such as the side panel of a row. */
  aside?: ReactNode;
  /** Of the table with all columns. */
  minWidth?: number;
  pager?: ComponentType<ListPagerProps>;
  onSearch: (change: Search) => void;
  /** Refetches the screen; by default only the list. */
  onRefresh?: () => void;
  /** Loads the format of the exported file; without it there is no export. */
  loadCsv?: () => Promise<(timeZone: string) => CsvFormat<Row>>;
  /** Shown below the list. */
  children?: ReactNode;
}

/** Cells do not wrap, so a table with many columns is wider. */
const MIN_WIDTH = 900;

/** A page with one list: filters, table, pages and export. The URL holds the user's choices. */
export function ListScreen<
  Answer extends { total: number },
  Row extends { id: string },
  Search extends PagedSearch,
>(props: ListScreenProps<Answer, Row, Search>) {
  const { name, source, query, rowsOf, columns, errorTitle, onSearch, loadCsv } = props;
  const { path, filters, fields = [], pageSize, search } = source;
  const { onRefresh = () => void query.refetch(), pager: Pages = Pager } = props;
  const [hidden, setHidden] = useHiddenColumns(name);
  const page = search.page ?? 1;
  const total = query.data?.total;
  const pageCount = countPages(total, pageSize);
  const { sort = 'time', order = 'desc' } = search;
  const sorting = useMemo<Sorting>(
    () => ({
      sort,
      order,
      onSort: (by, direction) => onSearch({ ...orderInUrl(by, direction), page: undefined } as Search),
    }),
    [sort, order, onSearch],
  );
  useLastPage({ page, pageCount: query.isPlaceholderData ? undefined : pageCount });
  const hasCards = useMediaQuery(PHONE, false, AT_ONCE) && props.card !== undefined;
  const list = (
    <Page
      title={props.title}
      subtitle={props.subtitle}
      actions={
        <>
          <LiveStatus updatedAt={query.dataUpdatedAt} />
          {props.links}
          {loadCsv ? (
            <ExportButton
              name={name}
              errorTitle={errorTitle}
              createSource={async (timeZone) => ({
                ...(await loadCsv())(timeZone),
                ...exportedPages(source, rowsOf),
              })}
            />
          ) : null}
          <RefreshButton busy={query.isFetching} onRefresh={onRefresh} />
        </>
      }
    >
      {props.above}
      <FailedChoices path={path} filters={filters} />
      <ListPanel
        title={props.panelTitle}
        description={props.description}
        aside={
          <>
            {props.range}
            {hasCards ? null : <ColumnsMenu columns={columns} hidden={hidden} onChange={setHidden} />}
          </>
        }
        filters={
          <ListFilters
            path={path}
            filters={filters}
            fields={fields}
            search={search}
            onSearch={onSearch}
            hasClear={props.hasClear}
            more={
              <>
                {props.moreFilters}
                {hasCards && props.sortable ? <SortSelect sorting={sorting} /> : null}
              </>
            }
          />
        }
        query={query}
        errorTitle={errorTitle}
        label={props.label ?? props.panelTitle}
        columns={columns}
        rows={query.data && rowsOf(query.data)}
        emptyText={props.emptyText}
        minWidth={props.minWidth ?? MIN_WIDTH}
        rowPanel={props.rowPanel}
        card={props.card}
        hidden={hidden}
        cards={props.cards ?? false}
        sorting={props.sortable ? sorting : undefined}
      >
        <Pages
          page={page}
          pageSize={pageSize}
          total={total}
          pageCount={pageCount}
          onPage={(next) => onSearch({ page: next } as Search)}
        />
        {props.sortable ? <ZoneName sorting={sorting} /> : null}
      </ListPanel>
      {props.children}
    </Page>
  );
  return <Split aside={props.aside}>{list}</Split>;
}

/** The zone of all times on the page, and how the rows are sorted. */
function ZoneName({ sorting: { sort, order } }: { sorting: Sorting }) {
  const { displayTimezone } = useSession();
  const first = order === 'asc' ? 'oldest first' : 'newest first';
  return (
    <p className={classes.zone} data-zone>
      {displayTimezone}, {sort === 'time' ? first : `by ${sort}`}
    </p>
  );
}

/** The URL omits the usual order, the newest first. */
const orderInUrl = (sort: string, order: Order) =>
  sort === 'time' && order === 'desc' ? { sort: undefined, order: undefined } : { sort, order };

/** All rows that match the filters, whatever page is shown, the newest first. */
function exportedPages<Answer extends { total: number }, Row extends { id: string }, Search>(
  source: ListSource<Search>,
  rowsOf: (answer: Answer) => readonly Row[],
): Pick<ExportSource<Row>, 'fetchPage' | 'rowId'> {
  return {
    fetchPage: async ({ signal, until, ...paging }) => {
      const { untilParam = 'until' } = source;
      const params = { ...paging, ...chosenFilters(source), ...(until ? { [untilParam]: until } : {}) };
      const answer = await requestJson<Answer>(source.path, { params, signal });
      return { rows: rowsOf(answer), total: answer.total };
    },
    rowId: ({ id }) => id,
  };
}
