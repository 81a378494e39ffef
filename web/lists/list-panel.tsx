import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useDeferredValue } from 'react';
import { Panel } from '../ui/panel.tsx';
import { ErrorBanner, ErrorState } from '../ui/states.tsx';
import { DataTable, type DataTableProps } from './data-table.tsx';
import classes from './list-panel.module.css';

interface ListPanelProps<Row> extends DataTableProps<Row> {
  title: string;
  description: string;
  /** Shown beside the title, such as the filters. */
  aside: ReactNode;
  /** Shown above the table, in lines of their own. */
  filters?: ReactNode;
  query: Pick<UseQueryResult, 'isError' | 'isFetching' | 'isPlaceholderData' | 'error' | 'refetch'>;
  errorTitle: string;
  /** Shown below the table. */
  children?: ReactNode;
}

/** A table with its states. The error of a failed refresh appears above the previous rows. */
export function ListPanel<Row extends { id: string }>(props: ListPanelProps<Row>) {
  const { title, description, aside, filters, query, errorTitle, children, ...table } = props;
  // A hundred rows render in slices, so that clicks and keys are answered meanwhile.
  const rows = useDeferredValue(table.rows);
  const failure = {
    title: errorTitle,
    error: query.error,
    onRetry: () => void query.refetch(),
    retrying: query.isFetching,
  };
  return (
    <Panel flush title={title} description={description} aside={aside}>
      {filters ? <div className={classes.filters}>{filters}</div> : null}
      {query.isError && table.rows ? <ErrorBanner {...failure} /> : null}
      {query.isError && !table.rows ? (
        <ErrorState {...failure} />
      ) : (
        <DataTable {...table} rows={rows} faded={query.isPlaceholderData} />
      )}
      {children}
    </Panel>
  );
}
