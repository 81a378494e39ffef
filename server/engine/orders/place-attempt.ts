import { CALCULATION_MAX_AGE_MINUTES } from '#domain/sizing/trading-constants.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { ExchangeError, type Placement } from '#server/exchanges/exchange.ts';
import { denyOpenedSince, isYoung, READING_LASTS_MS, readAheadAt } from './account-reading.ts';
import { findReport } from './look-up-attempt.ts';
import { later, nextNow, record, type StepResult, type TradeWork, verifyAt } from './trade-work.ts';
import { refuseSecond, type SecondRefused, withdrawSecond } from './withdraw-second.ts';

/** A request that has not left by then never leaves: its process may have been frozen. */
const SEND_WITHIN_MS = 5_000;
const PREPARE_TRIES = 3;
const PLACEMENT_TRIES = 5;
const RETRY_MS = 1_000;
const UNREAD_AGAIN = 'The position could not be read again';

/**
 * Sends a planned attempt.
 * I5: no order before one-way mode, isolated margin and leverage are set and read back.
 * I6: without a definite answer the attempt becomes `unknown` and is looked up, never sent again. After the answer
 *    that it was not placed, it is looked up before it is sent again or given up.
 * I3: a second attempt leaves only while the position shows no more than the known fills.
 * I9: permission is read again in the transaction that announces the request.
 */
export async function placeAttempt(work: TradeWork): Promise<StepResult> {
  const { deps, trade, attempt, account, exchange, onCall } = work;
  if (account === null) {
    return abandon(work, deny('exchange_not_connected', { exchange: trade.exchangePlatform }).reason);
  }
  // Since the order was planned the key was refused, or replaced by a key that is not checked yet.
  if (account.denial != null) return abandon(work, account.denial.reason);
  const ageMinutes = (deps.clock.now().getTime() - trade.createdAt.getTime()) / 60_000;
  if (ageMinutes > CALCULATION_MAX_AGE_MINUTES) {
    const context = { ageMinutes: ageMinutes.toFixed(1), maxAgeMinutes: String(CALCULATION_MAX_AGE_MINUTES) };
    return abandon(work, deny('calculation_too_old', context).reason);
  }
  const readAt = readAheadAt(work);
  const isReadingUsed = readAt !== null && isYoung(readAt, deps.clock.now());
  if (readAt !== null && !isReadingUsed) {
    try {
      const opened = await denyOpenedSince(work);
      if (opened !== null) return await abandon(work, opened);
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      return tryAgainOrAbandon(work, error, UNREAD_AGAIN);
    }
  }
  try {
    await exchange.prepareAccount(account, { token: trade.token, leverage: trade.leverage }, { onCall });
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return tryAgainOrAbandon(work, error, 'Leverage and margin mode could not be set');
  }

  const name = `Attempt ${attempt.attempt}`;
  // A request left before: what became of it is known only to the exchange.
  if (attempt.submittedAt !== null && (await findReport(work)) !== null) {
    const what = 'not sent again: the request before may have arrived, looking the order up';
    return await leaveToLookUp(work, what);
  }
  const begunAt = deps.clock.now();
  const latest = new Date(begunAt.getTime() + SEND_WITHIN_MS);
  const readingEnds = isReadingUsed ? new Date(readAt.getTime() + READING_LASTS_MS) : latest;
  const notAfter = readingEnds < latest ? readingEnds : latest;
  // The account was read too long ago: it is read again.
  if (isReadingUsed && begunAt >= notAfter) return nextNow;
  const announcement = announceOnce(work);
  const placement = await exchange.placeOrder(
    account,
    {
      token: trade.token,
      side: trade.side,
      clientOrderId: attempt.clientOrderId,
      price: attempt.price,
      quantity: attempt.quantity,
      leverage: trade.leverage,
      stopLoss: trade.stopLoss,
      takeProfit: trade.takeProfit,
    },
    { onCall, notAfter, announce: announcement.announce },
  );
  const announced = announcement.result();
  if (announced.ended === 'failed') throw announced.error;
  if (announced.ended === 'denied') return await abandon(work, announced.denial.reason);
  if (announced.ended === 'late-fill') return await holdBack(work, announced.text);
  if (announced.ended === 'unread') return await tryAgainOrAbandon(work, announced.error, UNREAD_AGAIN);
  if (announced.ended === 'not-called') return await notAnnounced(work, placement);
  const { submittedAt } = announced;
  switch (placement.outcome) {
    case 'placed':
      await record(work, {
        event: 'accepted',
        lines: [`${name}: accepted by ${trade.exchangePlatform} as order ${placement.orderId}`],
        attempt: { orderId: placement.orderId, verifyAt: verifyAt(work, submittedAt) },
        // A successor that does not see it looks the order up.
        mayWait: true,
      });
      return nextNow;
    case 'refused':
      await record(work, {
        event: 'refused',
        lines: [`${name}: refused by ${trade.exchangePlatform}: ${placement.message}`],
        attempt: { error: placement.message, finishedAt: deps.clock.now() },
      });
      return nextNow;
    case 'retry-later': {
      await record(work, {
        event: 'deferred',
        lines: [`${name}: not placed, will be sent again: ${placement.message}`],
        attempt: { error: placement.message },
      });
      if (attempt.placementTries >= PLACEMENT_TRIES) return abandon(work, placement.message);
      return later(work, Math.max(placement.retryAfterMs, RETRY_MS));
    }
    case 'duplicate':
    case 'unknown':
      await record(work, {
        event: 'outcome_unknown',
        lines: [`${name}: the outcome is not known, looking the order up: ${placement.message}`],
        attempt: { error: placement.message },
      });
      return nextNow;
  }
}

type Announced =
  /** The request never came to its turn. */
  | { ended: 'not-called' }
  | { ended: 'committed'; submittedAt: Date }
  | { ended: 'denied'; denial: Denial }
  | SecondRefused
  | { ended: 'failed'; error: unknown };

/**
 * I9: commits that the attempt is sent, when its request may leave by the exchange's limits. Nobody waits between the
 * commit and the request, so a stop of new entries that is made after it comes after the request. I3: the position of a
 * second attempt is read here, as late as it can be.
 */
function announceOnce(work: TradeWork) {
  const { attempt, deps, trade } = work;
  let announced: Announced = { ended: 'not-called' };
  return {
    result: () => announced,
    async announce(): Promise<boolean> {
      try {
        const refused = await refuseSecond(work);
        if (refused !== null) {
          announced = refused;
          return false;
        }
        const submittedAt = deps.clock.now();
        const denial = await record(work, {
          order: trade,
          event: 'submit',
          attempt: { submittedAt, placementTries: attempt.placementTries + 1 },
          lines: [
            `Attempt ${attempt.attempt}: submitting ${trade.side} ${attempt.quantity} ${trade.token} at ${attempt.price}`,
          ],
        });
        announced = denial === null ? { ended: 'committed', submittedAt } : { ended: 'denied', denial };
      } catch (error) {
        announced = { ended: 'failed', error };
      }
      return announced.ended === 'committed';
    },
  };
}

/** The placement ended before its request came to its turn. */
async function notAnnounced(work: TradeWork, placement: Placement): Promise<StepResult> {
  const { attempt } = work;
  const name = `Attempt ${attempt.attempt}`;
  switch (placement.outcome) {
    case 'refused':
      return abandon(work, placement.message);
    case 'retry-later': {
      const placementTries = attempt.placementTries + 1;
      await record(work, {
        attempt: { placementTries, error: placement.message },
        lines: [`${name}: not placed, will be sent again: ${placement.message}`],
      });
      if (placementTries >= PLACEMENT_TRIES) return abandon(work, placement.message);
      return later(work, Math.max(placement.retryAfterMs, RETRY_MS));
    }
    // An exchange that did not announce its request: the order may exist.
    default:
      return leaveToLookUp(work, 'sent without being announced, looking the order up');
  }
}

/** The position shows a fill that no order explains. A request that left before may be its source. */
const holdBack = (work: TradeWork, text: string): Promise<StepResult> =>
  work.attempt.submittedAt === null
    ? withdrawSecond(work, text)
    : leaveToLookUp(work, `not sent again, looking the order up: ${text}`);

async function leaveToLookUp(work: TradeWork, what: string, error?: string): Promise<StepResult> {
  const { attempt, deps } = work;
  await record(work, {
    event: 'outcome_unknown',
    lines: [`Attempt ${attempt.attempt}: ${what}`],
    attempt: {
      submittedAt: attempt.submittedAt ?? deps.clock.now(),
      ...(error === undefined ? {} : { error }),
    },
  });
  return nextNow;
}

async function tryAgainOrAbandon(work: TradeWork, error: ExchangeError, what: string): Promise<StepResult> {
  const { attempt } = work;
  const used = attempt.placementTries + 1;
  const isFinal = error.kind === 'refused' || error.kind === 'credentials' || used >= PREPARE_TRIES;
  const reason = `${what}: ${error.message}`;
  if (isFinal) return abandon(work, reason);
  await record(work, { attempt: { placementTries: used, error: reason } });
  return later(work, RETRY_MS * used);
}

/**
 * Ends an attempt that was never sent or never arrived: without `submittedAt` it allows no second attempt. If a request
 * left, the exchange must not know the order.
 */
async function abandon(work: TradeWork, reason: string): Promise<StepResult> {
  const { attempt, deps } = work;
  const name = `Attempt ${attempt.attempt}`;
  if (attempt.submittedAt !== null && (await findReport(work)) !== null) {
    const what = `not sent again, looking up what became of the request before: ${reason}`;
    return leaveToLookUp(work, what, reason);
  }
  await record(work, {
    event: 'declared_never_placed',
    lines: [`${name}: not sent: ${reason}`],
    attempt: { error: reason, submittedAt: null, finishedAt: deps.clock.now() },
  });
  return nextNow;
}
