import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorBanner, ErrorState, LoadingState } from './states.tsx';

interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  errorTitle: string;
  loading?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** Shows loading, failure or data; a failed refresh is reported above the previous data. */
export function QueryView<Data>({ query, errorTitle, loading, children }: QueryViewProps<Data>) {
  const retry = { onRetry: () => void query.refetch(), retrying: query.isFetching };
  if (query.data === undefined) {
    if (query.isError && !query.isFetching) {
      return <ErrorState title={errorTitle} error={query.error} {...retry} />;
    }
    return loading ?? <LoadingState />;
  }
  return (
    <>
      {query.isError ? <ErrorBanner title={errorTitle} error={query.error} {...retry} /> : null}
      {children(query.data)}
    </>
  );
}
