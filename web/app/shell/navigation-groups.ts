import type { NavigationPage } from '#contract/pages.ts';
import { isScreen, type Screen } from '../navigation.ts';

interface NavigationGroup {
  /** Null for pages that stand by themselves. */
  label: string | null;
  pages: ShownPage[];
}

export type ShownPage = Omit<NavigationPage, 'path'> & { path: Screen };

/** The tabs of a phone; 'More' has the other pages. */
const TABS: readonly Screen[] = ['/', '/signals', '/positions', '/performance'];

/** Small navigations fit beside 'More'. */
export function isTab(path: Screen, pageCount: number): boolean {
  return pageCount <= TABS.length || TABS.includes(path);
}

/** The pages with a screen, by group. Settings are in the user menu. A page alone in its group needs no label. */
export function groupPages(pages: readonly NavigationPage[]): NavigationGroup[] {
  const shown = pages.filter(
    (page): page is ShownPage => page.pageName !== 'Settings' && isScreen(page.path),
  );
  return [...Map.groupBy(shown, ({ group }) => group)].map(([group, ofGroup]) => ({
    label: group !== '' && ofGroup.length > 1 ? group : null,
    pages: ofGroup,
  }));
}
