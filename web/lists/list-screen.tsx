import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { ComponentType, ReactNode } from 'react';
import { requestJson } from '../lib/api-client.ts';
import type { ExportSource } from '../lib/csv-export.ts';
import { countPages } from '../lib/format.ts';
import { usePoll } from '../lib/live/live-context.tsx';
import { LiveStatus } from '../ui/live-status.tsx';
import { Page } from '../ui/page.tsx';
import { RefreshButton } from '../ui/refresh-button.tsx';
import { ColumnsMenu } from './columns-menu.tsx';
import type { TableColumns } from './data-table.tsx';
import { ExportButton } from './export-button.tsx';
import { useHiddenColumns } from './hidden-columns.ts';
import { FailedChoices, type ListFilter, ListFilters } from './list-filters.tsx';
import { ListPanel } from './list-panel.tsx';
import { Pager, type PagerProps } from './pager.tsx';
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
  pageSize: number;
  search: Search;
}

type PagedSearch = { page?: number | undefined };

const chosenFilters = <Search,>({ filters, search }: ListSource<Search>) =>
  Object.fromEntries(filters.map(({ name }) => [name, search[name] as string | undefined]));

/** The page in the URL. The previous page stays until it arrives. `pollMs`: 0 for never. */
export function useList<Answer, Search extends PagedSearch>(
  source: ListSource<Search>,
  { pollMs = 0 } = {},
): UseQueryResult<Answer> {
  const { path, pageSize, search } = source;
  return useQuery<Answer>({
    queryKey: [path, { page: search.page ?? 1, limit: pageSize, ...chosenFilters(source) }],
    placeholderData: keepPreviousData,
    refetchInterval: usePoll(pollMs),
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
  /** Shown after the filters. */
  moreFilters?: ReactNode;
  pager?: ComponentType<ListPagerProps>;
  onSearch: (change: Search) => void;
  /** Refetches the screen; by default only the list. */
  onRefresh?: () => void;
  /** Loads the format of the exported file; without it there is no export. */
  loadCsv?: () => Promise<(timeZone: string) => CsvFormat<Row>>;
  /** Shown below the list. */
  children?: ReactNode;
}

const MIN_WIDTH = 1380;

/** A page with one list: filters, table, pages and export. The URL holds the user's choices. */
export function ListScreen<
  Answer extends { total: number },
  Row extends { id: string },
  Search extends PagedSearch,
>(props: ListScreenProps<Answer, Row, Search>) {
  const { name, source, query, rowsOf, columns, errorTitle, onSearch, loadCsv } = props;
  const { path, filters, pageSize, search } = source;
  const { onRefresh = () => void query.refetch(), pager: Pages = Pager } = props;
  const [hidden, setHidden] = useHiddenColumns(name);
  const page = search.page ?? 1;
  const total = query.data?.total;
  const pageCount = countPages(total, pageSize);
  useLastPage({ page, pageCount: query.isPlaceholderData ? undefined : pageCount });
  return (
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
            <ListFilters
              path={path}
              filters={filters}
              search={search}
              onSearch={onSearch}
              hasClear={props.hasClear}
            />
            {props.moreFilters}
            <ColumnsMenu columns={columns} hidden={hidden} onChange={setHidden} />
          </>
        }
        query={query}
        errorTitle={errorTitle}
        label={props.label ?? props.panelTitle}
        columns={columns}
        rows={query.data && rowsOf(query.data)}
        emptyText={props.emptyText}
        minWidth={MIN_WIDTH}
        hidden={hidden}
      >
        <Pages
          page={page}
          pageSize={pageSize}
          total={total}
          pageCount={pageCount}
          onPage={(next) => onSearch({ page: next } as Search)}
        />
      </ListPanel>
      {props.children}
    </Page>
  );
}

/** All rows that match the filters, whatever page is shown. */
function exportedPages<Answer extends { total: number }, Row extends { id: string }, Search>(
  source: ListSource<Search>,
  rowsOf: (answer: Answer) => readonly Row[],
): Pick<ExportSource<Row>, 'fetchPage' | 'rowId'> {
  return {
    fetchPage: async ({ signal, ...paging }) => {
      const params = { ...paging, ...chosenFilters(source) };
      const answer = await requestJson<Answer>(source.path, { params, signal });
      return { rows: rowsOf(answer), total: answer.total };
    },
    rowId: ({ id }) => id,
  };
}
