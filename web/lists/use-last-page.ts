import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Goes to the last page when the URL names a later one. `pageCount`: undefined while the page is being fetched. */
export function useLastPage({ page, pageCount }: { page: number; pageCount: number | undefined }): void {
  const router = useRouter();
  // Rows may have been deleted, or the URL may be old.
  const last = pageCount === undefined ? page : Math.max(Math.min(page, pageCount), 1);
  useEffect(() => {
    if (last === page) return;
    void router.navigate({
      to: '.',
      search: (before: object) => ({ ...before, page: last > 1 ? last : undefined }),
      replace: true,
      state: true,
      resetScroll: false,
    });
  }, [router, last, page]);
}
