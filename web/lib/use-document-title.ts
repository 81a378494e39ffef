import { useEffect } from 'react';

/** Sets the title shown in the browser's tab, history and bookmarks. */
export function useDocumentTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} - Signal Board` : 'Signal Board';
  }, [title]);
}
