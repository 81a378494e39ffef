import { type NavigationPage, PAGES } from '#contract/pages.ts';

/** The pages that a user may open, in the order of the registry. */
export function navigationFor(user: { isAdmin: boolean }): NavigationPage[] {
  return PAGES.filter((page) => user.isAdmin || !page.adminOnly).map(
    ({ pageName, path, displayName, icon }) => ({ pageName, path, displayName, icon }),
  );
}
