import { useEffect } from 'react';

/** What the browser's tab, history and bookmarks call the screen. */
export function useDocumentTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} - Signal Board` : 'Signal Board';
  }, [title]);
}
