/** The bell and its inbox read the same list. */
export const NOTIFICATIONS = '/api/notifications';
