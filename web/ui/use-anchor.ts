import { useRouter } from '@tanstack/react-router';
import type { MouseEvent } from 'react';

/** For a plain anchor that the router follows. A router link takes no path with a search, and renders slower. */
export function useAnchor(href: string) {
  const router = useRouter();
  return {
    href,
    onClick: (event: MouseEvent) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      void router.navigate({ href });
    },
  };
}
