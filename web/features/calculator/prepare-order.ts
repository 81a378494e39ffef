import { useQuery } from '@tanstack/react-query';
import type { PrepareAnswer, PreparedOrder } from '#contract/position-maker.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { NO_POSITION_DATA } from './submit-state.ts';

export const PREPARATION_FAILED = 'Order Preparation Failed';
const FAILED_TEXT = 'Failed to prepare order data.';

/** Refusals that have a title of their own. */
const OWN_TITLES = [NO_POSITION_DATA.title, 'SAFETY VIOLATION'];

/** A refused or failed preparation; `title` is what the toast is called. */
export class PreparationError extends Error {
  readonly title: string;

  constructor({ title, message }: { title: string; message: string }) {
    super(message);
    this.name = 'PreparationError';
    this.title = title;
  }
}

/**
 * The order as it would be submitted now, with its pre-assessment; asked anew at every opening. Not under the path's
 * key: each order of anybody would prepare it again, with three requests to the exchange.
 */
export function usePreparedOrder(request: {
  positionGeneratorLogId: string;
  customEntryPrice: string;
  enabled: boolean;
}) {
  const { positionGeneratorLogId, customEntryPrice, enabled } = request;
  return useQuery({
    queryKey: ['prepared-order', { positionGeneratorLogId, customEntryPrice }] as const,
    queryFn: ({ signal }) =>
      prepare({ positionGeneratorLogId, ...(customEntryPrice === '' ? {} : { customEntryPrice }) }, signal),
    enabled,
    // The figures of the former entry price stay until the new ones are there, those of another calculation do not.
    placeholderData: (former, query) =>
      query?.queryKey[1].positionGeneratorLogId === positionGeneratorLogId ? former : undefined,
    staleTime: 0,
    gcTime: 0,
  });
}

async function prepare(
  body: { positionGeneratorLogId: string; customEntryPrice?: string },
  signal: AbortSignal,
): Promise<PreparedOrder> {
  const answer = await requestJson<PrepareAnswer>('/api/position-maker/prepare', {
    method: 'POST',
    body,
    signal,
  }).catch((error: unknown) => {
    throw new PreparationError({
      title: PREPARATION_FAILED,
      message: serverMessage(error, (error instanceof Error && error.message) || FAILED_TEXT),
    });
  });
  if (!answer.success) {
    throw new PreparationError({
      title: OWN_TITLES.includes(answer.error) ? answer.error : PREPARATION_FAILED,
      message: answer.message || FAILED_TEXT,
    });
  }
  // Missing fields arrive as empty texts (lib/complete-answer.ts): without a quantity there is no order.
  if (answer.data.positionDetails.quantity === '') {
    throw new PreparationError({
      title: PREPARATION_FAILED,
      message: 'No order data prepared. Please try again.',
    });
  }
  return answer.data;
}
