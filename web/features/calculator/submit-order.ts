import type { QueryClient } from '@tanstack/react-query';
import type { OrderResult, SubmitOrderAnswer } from '#contract/position-maker.ts';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { orderKey, refreshAccount } from './calculator-data.ts';
import { announceRateLimit, isInDoubt, isRateLimit, tellsRateLimit } from './request-failures.ts';

const SUCCESS_TOAST_MS = 6_000;
const FAILURE_TOAST_MS = 10_000;
const SUBMISSION_FAILED = 'Failed to submit order to exchange.';
const UNKNOWN_ERROR = 'Unknown error occurred';

export interface Submission {
  positionGeneratorLogId: string;
  /** Empty means the calculated price. */
  customEntryPrice: string;
}

/** Resolves when the order has finished, which can take half a minute. */
export async function submitOrder(client: QueryClient, submission: Submission): Promise<SubmitOrderAnswer> {
  const { positionGeneratorLogId, customEntryPrice } = submission;
  const queryKey = orderKey(positionGeneratorLogId);
  try {
    const answer = await requestJson<SubmitOrderAnswer>('/api/position-maker/submit-order', {
      method: 'POST',
      body: {
        positionGeneratorLogId,
        triggerType: 'manual',
        ...(customEntryPrice === '' ? {} : { customEntryPrice }),
      },
    });
    if (isOrder(answer)) {
      // An earlier poll must not reset the order to an earlier state.
      await client.cancelQueries({ queryKey });
      client.setQueryData(queryKey, { order: answer });
      if (answer.done) announceOrder(answer);
    } else announceFailure(answer.message || answer.error);
    return answer;
  } catch (error) {
    announceError(error);
    await client.invalidateQueries({ queryKey });
    throw error;
  } finally {
    await refreshAccount(client);
  }
}

const isOrder = (answer: SubmitOrderAnswer): answer is OrderResult => 'tradeId' in answer;

/** Why a submission created no order, for the result dialog. */
export interface SubmissionFailure {
  text: string;
  inDoubt: boolean;
}

export function failureOf(submission: {
  data: SubmitOrderAnswer | undefined;
  error: Error | null;
}): SubmissionFailure | null {
  const { data, error } = submission;
  if (error !== null) {
    const text = error instanceof ApiError ? (error.serverMessage ?? SUBMISSION_FAILED) : error.message;
    return { text, inDoubt: isInDoubt(error) };
  }
  if (data === undefined || isOrder(data)) return null;
  return { text: data.message || data.error || UNKNOWN_ERROR, inDoubt: false };
}

export function announceOrder(order: OrderResult): void {
  if (order.success) {
    toastSuccess({
      title: 'Order Submitted Successfully',
      message: `Order ID: ${order.orderId ?? 'not known'}`,
      durationMs: SUCCESS_TOAST_MS,
    });
  } else announceFailure(order.error ?? order.message);
}

function announceError(error: unknown): void {
  if (error instanceof ApiError) {
    announceFailure(error.serverMessage ?? SUBMISSION_FAILED, isRateLimit(error));
  } else {
    toastError({
      title: 'Order Processing Error',
      message: `${error instanceof Error ? error.message : error}. What became of the order is shown as soon as the server answers.`,
      durationMs: FAILURE_TOAST_MS,
    });
  }
}

function announceFailure(text: string, isLimited = tellsRateLimit(text)): void {
  const message = text || UNKNOWN_ERROR;
  if (isLimited) announceRateLimit(`The order was not submitted: ${message.replace(/\.$/, '')}.`);
  else toastError({ title: 'Order Submission Failed', message, durationMs: FAILURE_TOAST_MS });
}
