import { useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Changes some of the page's search parameters, which hold its filters, page number and dialogs. */
export function useChangeSearch<Search extends object>(): (
  change: Search,
  how?: { replace: boolean },
) => void {
  const router = useRouter();
  return useCallback(
    (change, how) =>
      void router.navigate({
        to: '.',
        search: (before: object) => ({ ...before, ...change }),
        resetScroll: false,
        ...how,
      }),
    [router],
  );
}
