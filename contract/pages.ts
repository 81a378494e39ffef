import { z } from 'zod';

type Row = [
  pageName: string,
  path: string,
  displayName: string,
  icon: string,
  group: Group,
  audience: Audience,
];
type Group = 'Overview' | 'Trade' | 'Performance' | 'Manage' | 'System';
type Audience = 'all' | 'administrators' | 'ordinary users';

/** In the order of the navigation, groups together. */
const ROWS: Row[] = [
  ['Dashboard', '/', 'Dashboard', 'Home', 'Overview', 'all'],
  ['signals', '/signals', 'Signals', 'Activity', 'Trade', 'administrators'],
  ['positions', '/positions', 'Positions', 'Wallet', 'Trade', 'administrators'],
  [
    'position-calculator',
    '/position-calculator',
    'Position Calculator',
    'Calculator',
    'Trade',
    'administrators',
  ],
  ['performance', '/performance', 'Performance', 'ChartLine', 'Performance', 'administrators'],
  ['strategies', '/strategies', 'Strategies', 'Stack2', 'Manage', 'administrators'],
  ['create-client', '/create-client', 'Users', 'Users', 'Manage', 'administrators'],
  ['configuration', '/configuration', 'Configuration', 'Webhook', 'Manage', 'administrators'],
  // Administrators have the same screen at /configuration.
  ['webhook', '/webhook', 'Webhook', 'Webhook', 'Manage', 'ordinary users'],
  ['alerts', '/alerts', 'Alerts', 'Bell', 'Manage', 'all'],
  ['Settings', '/settings', 'Settings', 'Settings', 'Manage', 'all'],
  ['automation-workflows', '/automation-workflows', 'Workflows', 'Route', 'System', 'administrators'],
  ['position-maker', '/position-maker', 'Position Maker', 'Cpu', 'System', 'administrators'],
  ['price-logs', '/price-logs', 'Price Logs', 'ChartCandle', 'System', 'administrators'],
  ['audit', '/audit', 'Audit', 'History', 'System', 'administrators'],
];

/** All pages; `audience` says whose navigation lists the page. */
export const PAGES = ROWS.map(([pageName, path, displayName, icon, group, audience]) => ({
  pageName,
  path,
  displayName,
  icon,
  group,
  audience,
  adminOnly: audience === 'administrators',
  active: pageName !== 'Settings',
}));

export const navigationPage = z.object({
  pageName: z.string(),
  path: z.string(),
  displayName: z.string(),
  icon: z.string(),
  /** Pages of one group stand together, below its name. */
  group: z.string(),
});
export type NavigationPage = z.infer<typeof navigationPage>;

export const navigationPages = z.object({ pages: z.array(navigationPage) });
