/** Names the user for whom a screen was opened: the tabs of a browser share one session. */
export const ACTING_USER_HEADER = 'x-signal-board-user';

/** The `failureType` of the refusal when the session is another user's by now. */
export const OTHER_USER = 'OTHER_USER';
