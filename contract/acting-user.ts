/** Names the user a screen was opened for, because all tabs of a browser share one session. */
export const ACTING_USER_HEADER = 'x-signal-board-user';

/** `failureType` of the refusal when the session now belongs to another user. */
export const OTHER_USER = 'OTHER_USER';
