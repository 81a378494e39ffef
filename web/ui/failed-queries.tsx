import type { UseQueryResult } from '@tanstack/react-query';
import { ErrorBanner } from './states.tsx';

export interface SideQuery {
  /** The failure, e.g. 'Failed to fetch tokens'. */
  title: string;
  query: Pick<UseQueryResult, 'isError' | 'isFetching' | 'error' | 'refetch'>;
}

/** Failures of secondary queries, such as filter choices, each with a retry. */
export function FailedQueries({ queries }: { queries: readonly SideQuery[] }) {
  return queries
    .filter(({ query }) => query.isError)
    .map(({ title, query }) => (
      <ErrorBanner
        key={title}
        title={title}
        error={query.error}
        onRetry={() => void query.refetch()}
        retrying={query.isFetching}
      />
    ));
}
