import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { Logger } from '#server/platform/log.ts';
import type { DeliveryOutcome } from './deliveries.store.ts';

/**
 * TradingView hangs up after 3 s and does not repeat what it hung up on. A 503 it does repeat, and the repetition
 * finds its duplicate if the first delivery was stored after all.
 */
const ANSWER_WITHIN_MS = 2_000;

/** What is answered when a delivery did not get in and another try may well. */
export const SEND_AGAIN = {
  limited: 'Over the limit of deliveries a minute. Send it again.',
  'not-stored': 'The delivery could not be stored. Send it again.',
} as const;

/** The outcome, or that nothing is known to be stored: only a 5xx is sent again, so the reason makes no difference. */
export async function inTime(
  deps: { log: Logger },
  received: Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome | { outcome: 'not-stored' }> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_resolve, reject) => {
    // Made when it is needed: to record where each delivery stood would take a tenth of its time.
    timer = setTimeout(
      () => reject(new Error(`nothing was committed within ${ANSWER_WITHIN_MS} ms`)),
      ANSWER_WITHIN_MS,
    );
  });
  try {
    return await Promise.race([received, tooLate]);
  } catch (error) {
    if (!(error instanceof AppError)) {
      deps.log.error({ err: error, code: databaseErrorCode(error) }, 'a delivery could not be stored');
    }
    return { outcome: 'not-stored' };
  } finally {
    clearTimeout(timer);
  }
}
