import { z } from 'zod';

/** All pages, in the order of the navigation. */
export const PAGES = [
  {
    pageName: 'Dashboard',
    path: '/',
    displayName: 'Dashboard',
    icon: 'Home',
    adminOnly: false,
    active: true,
  },
  {
    pageName: 'Settings',
    path: '/settings',
    displayName: 'Settings',
    icon: 'Settings',
    adminOnly: false,
    active: false,
  },
  {
    pageName: 'price-logs',
    path: '/price-logs',
    displayName: 'Price Logs',
    icon: 'ChartCandle',
    adminOnly: true,
    active: true,
  },
  {
    pageName: 'signals',
    path: '/signals',
    displayName: 'Signals',
    icon: 'Activity',
    adminOnly: true,
    active: true,
  },
  {
    pageName: 'configuration',
    path: '/configuration',
    displayName: 'Configuration',
    icon: 'Webhook',
    adminOnly: true,
    active: true,
  },
  {
    pageName: 'position-calculator',
    path: '/position-calculator',
    displayName: 'Position Calculator',
    icon: 'Calculator',
    adminOnly: true,
    active: true,
  },
  {
    pageName: 'create-client',
    path: '/create-client',
    displayName: 'Users',
    icon: 'Users',
    adminOnly: true,
    active: true,
  },
  {
    pageName: 'position-maker',
    path: '/position-maker',
    displayName: 'Position Maker',
    icon: 'Cpu',
    adminOnly: true,
    active: true,
  },
  {
    pageName: 'automation-workflows',
    path: '/automation-workflows',
    displayName: 'Workflows',
    icon: 'Route',
    adminOnly: true,
    active: true,
  },
  {
    pageName: 'webhook',
    path: '/webhook',
    displayName: 'Webhook',
    icon: 'Webhook',
    adminOnly: false,
    active: true,
    /** Administrators have the same screen at /configuration. */
    navigation: 'ordinary users',
  },
  {
    pageName: 'positions',
    path: '/positions',
    displayName: 'Positions',
    icon: 'Wallet',
    adminOnly: true,
    active: true,
  },
] as const;

export const navigationPage = z.object({
  pageName: z.string(),
  path: z.string(),
  displayName: z.string(),
  icon: z.string(),
});
export type NavigationPage = z.infer<typeof navigationPage>;

export const navigationPages = z.object({ pages: z.array(navigationPage) });
