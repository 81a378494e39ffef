import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { OrderResult, SubmitOrderAnswer } from '#contract/position-maker.ts';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { orderKey } from './follow-order.ts';
import { isRateLimit, tellsRateLimit } from './price-comparison.ts';
import { announceRateLimit } from './rate-limit-toast.ts';
import { refreshAccount } from './refresh-account.ts';

export interface Submission {
  positionGeneratorLogId: string;
  /** Empty: the calculated one. */
  customEntryPrice: string;
}

const SUCCESS_TOAST_MS = 6_000;
const FAILURE_TOAST_MS = 10_000;
const SUBMISSION_FAILED = 'Failed to submit order to exchange.';
const UNKNOWN_ERROR = 'Unknown error occurred';

/**
 * Answered when the order is done, which takes up to half a minute. Leaving the screen does not take the request
 * back, and the toast comes all the same.
 */
export function useSubmitOrder() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ positionGeneratorLogId, customEntryPrice }: Submission) =>
      requestJson<SubmitOrderAnswer>('/api/position-maker/submit-order', {
        method: 'POST',
        body: {
          positionGeneratorLogId,
          triggerType: 'manual',
          ...(customEntryPrice === '' ? {} : { customEntryPrice }),
        },
      }),
    onSuccess: async (answer, { positionGeneratorLogId }) => {
      if (!isOrder(answer)) return announceFailure(answer.message || answer.error);
      const queryKey = orderKey(positionGeneratorLogId);
      // A poll that left earlier must not bring the order back to where it was then.
      await client.cancelQueries({ queryKey });
      client.setQueryData(queryKey, { order: answer });
      if (answer.done) announceOrder(answer);
    },
    onError: (error) => {
      if (error instanceof ApiError) {
        return announceFailure(error.serverMessage ?? SUBMISSION_FAILED, isRateLimit(error));
      }
      toastError({
        title: 'Order Processing Error',
        message: `${error.message}. What became of the order is shown as soon as the server answers.`,
        durationMs: FAILURE_TOAST_MS,
      });
    },
    onSettled: async (_answer, error, { positionGeneratorLogId }) => {
      if (error) await client.invalidateQueries({ queryKey: orderKey(positionGeneratorLogId) });
      await refreshAccount(client);
    },
  });
}

export const isOrder = (answer: SubmitOrderAnswer): answer is OrderResult => 'tradeId' in answer;

/** What a submission without an order came to, for the result dialog. */
export interface SubmissionFailure {
  text: string;
  /** No answer of the server says whether there is an order. */
  inDoubt: boolean;
}

export function failureOf(submission: {
  data: SubmitOrderAnswer | undefined;
  error: Error | null;
}): SubmissionFailure | null {
  const { data, error } = submission;
  if (error instanceof ApiError) {
    return { text: error.serverMessage ?? SUBMISSION_FAILED, inDoubt: error.status >= 500 };
  }
  if (error !== null) return { text: error.message, inDoubt: true };
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

function announceFailure(text: string, isLimited = tellsRateLimit(text)): void {
  const message = text || UNKNOWN_ERROR;
  if (isLimited) announceRateLimit(`The order was not submitted: ${message.replace(/\.$/, '')}.`);
  else toastError({ title: 'Order Submission Failed', message, durationMs: FAILURE_TOAST_MS });
}
