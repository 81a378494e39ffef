import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Of the rows of this very page of a list, as the address asks for them; undefined while they are on their way. */
export function useLastPage({ page, pageCount }: { page: number; pageCount: number | undefined }): void {
  const router = useRouter();
  // The rows of the last page are gone, or somebody kept an old address.
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
