export const usersPath = '/api/admin/users';

export const userPath = (userId: string): string => `/api/admin/user/${encodeURIComponent(userId)}`;

/** API path of the user's own settings, or of another user's in admin mode. */
export const settingsPath = (userId: string | null): string =>
  userId ? `/api/admin/user-settings/${encodeURIComponent(userId)}` : '/api/user-settings';
