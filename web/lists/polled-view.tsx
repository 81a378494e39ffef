import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { ErrorBanner, ErrorState, LoadingState } from '../ui/states.tsx';

interface PolledViewProps<Data> {
  query: UseQueryResult<Data>;
  errorTitle: string;
  loading?: ReactNode;
  children: (data: Data) => ReactNode;
}

/** For polled data: an error stays visible during further polls, and its button stays enabled and keeps the focus. */
export function PolledView<Data>({ query, errorTitle, loading, children }: PolledViewProps<Data>) {
  const [lastError, setLastError] = useState<unknown>(null);
  if (query.error !== null && query.error !== lastError) setLastError(query.error);
  const failure = { title: errorTitle, onRetry: () => void query.refetch() };
  if (query.data === undefined) {
    const error = query.error ?? lastError;
    return error === null ? (loading ?? <LoadingState />) : <ErrorState {...failure} error={error} />;
  }
  return (
    <>
      {query.isError ? <ErrorBanner {...failure} error={query.error} /> : null}
      {children(query.data)}
    </>
  );
}
