import type { AdminHook } from '#contract/hooks.ts';

export const adminHooksPath = '/api/admin/hooks';

export const whomItFeeds = ({ isAdmin }: Pick<AdminHook, 'isAdmin'>): string =>
  isAdmin ? 'signals for every eligible user' : 'signals for this user only';
