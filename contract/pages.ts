import { z } from 'zod';

type Row = [pageName: string, path: string, displayName: string, icon: string, audience: Audience];
type Audience = 'all' | 'administrators' | 'ordinary users';

/** In the order of the navigation. */
const ROWS: Row[] = [
  ['Dashboard', '/', 'Dashboard', 'Home', 'all'],
  ['Settings', '/settings', 'Settings', 'Settings', 'all'],
  ['price-logs', '/price-logs', 'Price Logs', 'ChartCandle', 'administrators'],
  ['signals', '/signals', 'Signals', 'Activity', 'administrators'],
  ['configuration', '/configuration', 'Configuration', 'Webhook', 'administrators'],
  ['position-calculator', '/position-calculator', 'Position Calculator', 'Calculator', 'administrators'],
  ['create-client', '/create-client', 'Users', 'Users', 'administrators'],
  ['position-maker', '/position-maker', 'Position Maker', 'Cpu', 'administrators'],
  ['automation-workflows', '/automation-workflows', 'Workflows', 'Route', 'administrators'],
  // Administrators have the same screen at /configuration.
  ['webhook', '/webhook', 'Webhook', 'Webhook', 'ordinary users'],
  ['positions', '/positions', 'Positions', 'Wallet', 'administrators'],
];

/** All pages; `audience` says whose navigation lists the page. */
export const PAGES = ROWS.map(([pageName, path, displayName, icon, audience]) => ({
  pageName,
  path,
  displayName,
  icon,
  audience,
  adminOnly: audience === 'administrators',
  active: pageName !== 'Settings',
}));

export const navigationPage = z.object({
  pageName: z.string(),
  path: z.string(),
  displayName: z.string(),
  icon: z.string(),
});
export type NavigationPage = z.infer<typeof navigationPage>;

export const navigationPages = z.object({ pages: z.array(navigationPage) });
