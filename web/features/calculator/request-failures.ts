import type { GenerateAnswer } from '#contract/position-generator.ts';
import { ApiError, isStatus, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';

const RATE_LIMIT_TEXTS = ['maximum 2 requests per second', 'rate limit', 'api integration failed'];

export const tellsRateLimit = (text: string): boolean =>
  RATE_LIMIT_TEXTS.some((part) => text.toLowerCase().includes(part));

/** Whether a rate limit refused the request, judged by its status or text. */
export const isRateLimit = (error: unknown): boolean =>
  isStatus(error, 429) || (error instanceof Error && tellsRateLimit(error.message));

/** Whether it is unknown if the request took effect: there was no answer, or a server error. */
export const isInDoubt = (error: Error): boolean => !(error instanceof ApiError && error.status < 500);

const RATE_LIMIT_TOAST_MS = 5_000;
const REASSURANCE = 'Fallback calculations use the real account balance, and results remain accurate.';

/** `failure`: a sentence naming what the rate limit made fail. */
export function announceRateLimit(failure?: string): void {
  const show = failure === undefined ? toastSuccess : toastError;
  show({
    title: 'Rate Limiting Detected',
    message: failure === undefined ? REASSURANCE : `${failure} ${REASSURANCE}`,
    durationMs: RATE_LIMIT_TOAST_MS,
  });
}

const CALCULATION_FAILED = 'Failed to calculate position parameters.';

/** Why a calculation got no answer. */
export const errorText = (error: unknown): string =>
  serverMessage(error, (error instanceof Error && error.message) || CALCULATION_FAILED);

export type Refusal = Extract<GenerateAnswer, { success: false }>;

/** Why a calculation was refused; a default text when the refusal gives no reason. */
export const failureText = ({ message, error }: Pick<Refusal, 'message' | 'error'>): string =>
  message || error || CALCULATION_FAILED;
