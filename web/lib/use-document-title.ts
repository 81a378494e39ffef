import { useEffect } from 'react';
import { createStore } from './store.ts';

/** How many critical conditions there are: a tab in the background tells. */
export const criticalConditions = createStore(0);

/** Sets the title shown in the browser's tab, history and bookmarks. */
export function useDocumentTitle(title: string | undefined): void {
  const critical = criticalConditions.use();
  useEffect(() => {
    const name = title ? `${title} - Signal Board` : 'Signal Board';
    document.title = critical > 0 ? `(${critical}) ${name}` : name;
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    icon?.setAttribute('href', critical > 0 ? '/icon-critical.svg' : '/icon.svg');
  }, [title, critical]);
}
