import { useQuery } from '@tanstack/react-query';
import type { NavigationPage } from '#contract/pages.ts';

export const useNavigationPages = () =>
  useQuery<{ pages: NavigationPage[] }, Error, NavigationPage[]>({
    queryKey: ['/api/navigation/pages'],
    select: ({ pages }) => pages,
  });

/** Registry pages that have a screen; navigation and cards leave out the others. */
const ADMIN_SCREENS = [
  '/price-logs',
  '/signals',
  '/configuration',
  '/position-calculator',
  '/create-client',
  '/position-maker',
  '/automation-workflows',
  '/positions',
  '/strategies',
  '/performance',
  '/audit',
] as const;

const SCREENS = ['/', '/webhook', '/alerts', ...ADMIN_SCREENS] as const;

export type AdminScreen = (typeof ADMIN_SCREENS)[number];
export type Screen = (typeof SCREENS)[number];

export const isScreen = (path: string): path is Screen => (SCREENS as readonly string[]).includes(path);

export const isAdminScreen = (path: string): path is AdminScreen =>
  (ADMIN_SCREENS as readonly string[]).includes(path);
