import { z } from 'zod';
import { userSettings } from './settings.ts';

/**
 * All errors that HTTP callers can receive. `status` is the response's status code and `message` its default text;
 * the code that throws may pass a more specific text. docs/errors.md is generated from this list.
 */
export const ERRORS = {
  badRequest: { status: 400, message: 'The request is not valid' },
  notSignedIn: { status: 401, message: 'Not signed in' },
  metricsClosed: { status: 401, message: 'Metrics are read with their own token' },
  invalidLogin: { status: 401, message: 'Invalid username or password' },
  invalidPassword: { status: 403, message: 'Invalid password' },
  stepUpRequired: { status: 403, message: 'Please confirm with your password' },
  factorRequired: { status: 403, message: 'Set up a second factor first' },
  notForTokens: { status: 403, message: 'API tokens cannot do this' },
  missingScope: { status: 403, message: 'The API token has no scope for this' },
  invalidFactor: { status: 403, message: 'The code or passkey was not accepted' },
  adminOnly: { status: 403, message: 'Administrators only' },
  crossSite: { status: 403, message: 'Cross-site requests are refused' },
  manualTriggerDisabled: { status: 403, message: 'Manual triggers disabled in production' },
  tradingDisabledInLiveMode: {
    status: 403,
    message: 'Trading operations are disabled in live mode for safety',
  },
  testDeliveryInLiveTrading: {
    status: 403,
    message: 'Test deliveries are refused while real money is traded automatically',
  },
  ownAccount: { status: 403, message: 'You cannot deactivate your own account' },
  notFound: { status: 404, message: 'Not found' },
  userNotFound: { status: 404, message: 'User not found' },
  settingsNotFound: { status: 404, message: 'User settings not found' },
  webhookNotFound: { status: 404, message: 'Webhook not found' },
  signalNotFound: { status: 404, message: 'Signal not found' },
  priceLogNotFound: { status: 404, message: 'Price log not found' },
  workflowNotFound: { status: 404, message: 'Workflow not found' },
  calculationNotFound: { status: 404, message: 'Calculation not found' },
  tradingHaltNotFound: { status: 404, message: 'Trading halt not found' },
  credentialsNotFound: { status: 404, message: 'No exchange credentials are stored' },
  halfSignInEnded: { status: 401, message: 'Sign in again with your password' },
  invalidToken: { status: 401, message: 'The API token is not valid' },
  passkeyNotFound: { status: 404, message: 'Passkey not found' },
  sessionNotFound: { status: 404, message: 'Session not found' },
  tokenNotFound: { status: 404, message: 'API token not found' },
  feedNotFound: { status: 404, message: 'Feed not found' },
  channelNotFound: { status: 404, message: 'Notification channel not found' },
  channelChanged: { status: 409, message: 'This channel was changed elsewhere: load it again' },
  tooManyChannels: { status: 409, message: 'You have 20 notification channels already: delete one first' },
  tooManyTokens: { status: 409, message: 'You have 20 API tokens already: delete one first' },
  factorExists: { status: 409, message: 'An authenticator app is set up already' },
  factorNotStarted: { status: 409, message: 'Start again: no authenticator app is being set up' },
  otherUser: {
    status: 409,
    message: 'Another user has signed in to this browser. Nothing was changed.',
  },
  settingsChanged: { status: 409, message: 'These settings were changed elsewhere' },
  credentialsInUse: {
    status: 409,
    message: 'An order of this user is still under way; try again when it is settled',
  },
  tradingStopNotFound: { status: 404, message: 'This stop does not exist, was lifted or is over' },
  closeAllNotFound: { status: 404, message: 'This closing of all positions does not exist' },
  statementArchiveNotFound: {
    status: 404,
    message: 'These statements are not ready, or were deleted a day after they were',
  },
  closeAllEnded: { status: 409, message: 'This closing of all positions has ended' },
  pauseOfSettings: { status: 409, message: "This is the pause of the user's settings: end it there" },
  tradingHaltNotCleared: {
    status: 409,
    message: 'The exchange does not show the position closed or protected yet',
  },
  tradingHaltEnded: { status: 409, message: 'Trading was resumed already' },
  credentialsOfOtherAccount: {
    status: 409,
    message:
      'An order of this user is not settled or a position is open, and the API key is not known to be of the same account',
  },
  exchangeAccountTaken: {
    status: 409,
    message: 'The exchange account of this API key is connected for another user',
  },
  usernameTaken: { status: 409, message: 'A user with this username already exists' },
  webhookExists: { status: 409, message: 'You already have a webhook' },
  webhookSuspended: { status: 409, message: 'An administrator suspended this webhook' },
  alreadyTraded: { status: 409, message: 'This calculation was already traded' },
  positionNotFound: { status: 404, message: 'No open position was recorded for this trade' },
  positionNotHidden: {
    status: 409,
    message: 'The connected account can show the position: only one that none can show is written off',
  },
  orderSettled: { status: 409, message: 'The order is settled' },
  orderFollowed: {
    status: 409,
    message: 'Asking the exchange may still settle the order: only one that it cannot settle is written off',
  },
  orderBusy: { status: 409, message: 'The order is being worked on at this moment. Try again.' },
  workflowRunning: {
    status: 409,
    message: 'The system is processing other signals: a workflow of this signal is still running',
  },
  workflowNotFailed: { status: 409, message: 'Only a failed workflow can be retried' },
  tooLarge: { status: 413, message: 'The request is too large' },
  unsupportedMediaType: { status: 415, message: 'Send the body as application/json' },
  otherHost: { status: 421, message: 'Signal Board does not answer under this host' },
  tooManyAttempts: { status: 429, message: 'Too many failed attempts. Try again later.' },
  tooManyRequests: { status: 429, message: 'Too many requests. Try again in a minute.' },
  internal: { status: 500, message: 'Internal server error' },
  unavailable: { status: 503, message: 'The service is not available at the moment' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof ERRORS;

export const fieldError = z.object({ path: z.string(), message: z.string() });
export type FieldError = z.infer<typeof fieldError>;

export const errorBody = z.object({
  message: z.string(),
  errors: z.array(fieldError).optional(),
  failureType: z.string().optional(),
  /** With `settingsChanged`: the current settings. */
  data: userSettings.optional(),
});
export type ErrorBody = z.infer<typeof errorBody>;
