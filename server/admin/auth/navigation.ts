import { type NavigationPage, PAGES } from '#contract/pages.ts';

/** The pages that a user's navigation lists, in the order of the registry. */
export function navigationFor(user: { isAdmin: boolean }): NavigationPage[] {
  return PAGES.filter((page) => (user.isAdmin ? !('navigation' in page) : !page.adminOnly)).map(
    ({ pageName, path, displayName, icon }) => ({ pageName, path, displayName, icon }),
  );
}
