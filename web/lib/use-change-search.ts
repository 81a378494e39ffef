import { useRouter } from '@tanstack/react-router';
import { useCallback } from 'react';

/** Changes some search parameters of the page: its filters, pages and dialogs stand in the address. */
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
