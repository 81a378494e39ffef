import type { Clock } from '#server/platform/clock.ts';
import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import { AppError } from '#server/platform/http/errors.ts';
import type { Logger } from '#server/platform/log.ts';
import type { DeliveryOutcome } from './deliveries.store.ts';

/** TradingView hangs up after 3 s and does not retry then. It retries a 503; a stored delivery is then a duplicate. */
const ANSWER_WITHIN_MS = 2_000;

/** Answers to deliveries that may be sent again. */
export const SEND_AGAIN = {
  limited: 'Over the limit of deliveries a minute. Send it again.',
  'not-stored': 'The delivery could not be stored. Send it again.',
} as const;

/** Returns the outcome, or `not-stored` when storing failed or is late; both are answered 503. */
export async function inTime(
  deps: { clock: Clock; log: Logger },
  received: Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome | { outcome: 'not-stored' }> {
  let cancel = () => {};
  const tooLate = new Promise<never>((_resolve, reject) => {
    // Creates the error only when needed: recording a stack for each delivery took a tenth of its time.
    cancel = deps.clock.after(ANSWER_WITHIN_MS, () =>
      reject(new Error(`nothing was committed within ${ANSWER_WITHIN_MS} ms`)),
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
    cancel();
  }
}
