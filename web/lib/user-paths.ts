export const usersPath = '/api/admin/users';

export const userPath = (userId: string): string => `/api/admin/user/${encodeURIComponent(userId)}`;

/** The own settings, or another user's in admin mode. */
export const settingsPath = (userId: string | null): string =>
  userId ? `/api/admin/user-settings/${encodeURIComponent(userId)}` : '/api/user-settings';
