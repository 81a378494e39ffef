import type { UseQueryResult } from '@tanstack/react-query';
import type { ComponentType, ReactNode } from 'react';
import type { ExportSource } from '../lib/csv-export.ts';
import { countPages } from '../lib/format.ts';
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
  /** Undefined while it is not known, such as after a failed fetch. */
  total: number | undefined;
}

interface ListScreenProps<Row, Search> {
  /** Names the exported file and what the browser remembers of the table. */
  name: string;
  title: string;
  subtitle: string;
  /** Beside the title of the page. */
  links?: ReactNode;
  /** Between the title of the page and the list. */
  above?: ReactNode;
  panelTitle: string;
  description: string;
  /** Accessible name of the table. */
  label?: string;
  query: UseQueryResult<{ total: number }>;
  rows: readonly Row[] | undefined;
  columns: TableColumns<Row>;
  emptyText: string;
  errorTitle: string;
  /** Of the list at the server. */
  path: string;
  filters: readonly ListFilter<Search>[];
  hasClear?: boolean;
  /** After the filters. */
  moreFilters?: ReactNode;
  pageSize: number;
  pager?: ComponentType<ListPagerProps>;
  search: Search;
  onSearch: (change: Search) => void;
  /** Fetches the list again, unless the screen shows more than it. */
  onRefresh?: () => void;
  createExport?: (timeZone: string) => Promise<ExportSource<Row>>;
  /** Below the list. */
  children?: ReactNode;
}

const MIN_WIDTH = 1380;

/** A page with one list: its filters, table, pages and export. What is chosen stands in the address. */
export function ListScreen<Row extends { id: string }, Search extends { page?: number | undefined }>(
  props: ListScreenProps<Row, Search>,
) {
  const { name, query, columns, errorTitle, path, filters, pageSize, search, onSearch } = props;
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
          {props.createExport ? (
            <ExportButton name={name} errorTitle={errorTitle} createSource={props.createExport} />
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
        rows={props.rows}
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
