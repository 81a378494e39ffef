import { ApiError, isStatus } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';

const RATE_LIMIT_TEXTS = ['maximum 2 requests per second', 'rate limit', 'api integration failed'];

export const tellsRateLimit = (text: string): boolean =>
  RATE_LIMIT_TEXTS.some((part) => text.toLowerCase().includes(part));

/** A refusal by a limit, by its status or by its words. */
export const isRateLimit = (error: unknown): boolean =>
  isStatus(error, 429) || (error instanceof Error && tellsRateLimit(error.message));

/** No answer of the server says whether the request did its work. */
export const isInDoubt = (error: Error): boolean => !(error instanceof ApiError && error.status < 500);

const RATE_LIMIT_TOAST_MS = 5_000;
const REASSURANCE = 'Fallback calculations use the real account balance, and results remain accurate.';

/** `failure`: what failed because of it, in a sentence. */
export function announceRateLimit(failure?: string): void {
  const show = failure === undefined ? toastSuccess : toastError;
  show({
    title: 'Rate Limiting Detected',
    message: failure === undefined ? REASSURANCE : `${failure} ${REASSURANCE}`,
    durationMs: RATE_LIMIT_TOAST_MS,
  });
}
