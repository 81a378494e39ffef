import { setTimeout as sleep } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { PROTECTION_DEADLINE_MS } from '#domain/trading-constants.ts';
import { ExchangeError, type Protection } from '#server/exchanges/exchange.ts';
import { trades } from '#server/platform/database/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { assertHeld } from '#server/platform/leases.ts';
import { protectionOrderId } from './client-order-id.ts';
import type { TradeWork } from './trade-work.ts';
import { addTimeline } from './trades.store.ts';

export const PROTECTION_RETRY_MS = 500;
/** So often it is tried even when the deadline passed while the program was down. */
const LAST_TRIES = 2;

/**
 * I4: after a fill the stop is read back from the exchange; when it is not there it is placed, and when that fails
 * until the deadline, the caller closes the position. `again`: not yet, and the deadline has not passed.
 */
export async function protectPosition(work: TradeWork): Promise<'protected' | 'again' | 'unprotected'> {
  const { deps, trade, attempt } = work;
  const seenAt = attempt.finishedAt ?? deps.clock.now();
  const deadline = seenAt.getTime() + PROTECTION_DEADLINE_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      const { status, text } = await ensureProtection(work);
      await recordProtection(work, status, text);
      return 'protected';
    } catch (error) {
      if (!(error instanceof ExchangeError)) throw error;
      deps.log.error({ err: error, tradeId: trade.id }, 'a filled position has no verified stop yet');
      if (deps.clock.now().getTime() < deadline) return 'again';
      if (tries === LAST_TRIES) {
        await recordProtection(work, 'missing', `The stop loss could not be placed: ${error.message}`);
        return 'unprotected';
      }
    }
    await sleep(PROTECTION_RETRY_MS);
  }
}

async function ensureProtection(work: TradeWork): Promise<{ status: 'verified' | 'repaired'; text: string }> {
  const { account, exchange, trade, deps, lease, onCall } = work;
  // From before the reading: what was read is not acted on by a process that was frozen since.
  const notAfter = new Date(deps.clock.now().getTime() + PROTECTION_DEADLINE_MS);
  if (account === null) throw new ExchangeError('credentials', 'the exchange credentials are gone');
  const position = await exchange.fetchPosition(account, trade.token, { onCall });
  if (position === null)
    return { status: 'verified', text: 'The position is closed already, nothing to protect' };
  const before = await exchange.fetchProtection(account, trade.token, { onCall });
  if (isWhole(before)) {
    return {
      status: 'verified',
      text: `Protection read back: stop ${before.stopLoss}, target ${before.takeProfit}`,
    };
  }
  await assertHeld(deps.db, lease);
  try {
    await exchange.placeProtection(
      account,
      {
        token: trade.token,
        side: position.side,
        quantity: position.quantity,
        stopLoss: before.stopLoss === null ? trade.stopLoss : null,
        takeProfit: before.takeProfit === null ? trade.takeProfit : null,
        clientOrderId: protectionOrderId(timeOrderedId()),
      },
      { onCall, notAfter },
    );
  } catch (error) {
    // With its stop the position is safe: a target that the exchange does not take is no reason to close it.
    if (before.stopLoss === null || !(error instanceof ExchangeError)) throw error;
    const text = `Stop read back: ${before.stopLoss}. The take profit is missing and could not be placed: ${error.message}`;
    return { status: 'verified', text };
  }
  const after = await exchange.fetchProtection(account, trade.token, { onCall });
  if (after.stopLoss === null) throw new ExchangeError('unknown', 'the stop loss is still not there');
  return {
    status: 'repaired',
    text: `Protection was missing and is placed: stop ${after.stopLoss}, target ${after.takeProfit ?? 'none'}`,
  };
}

const isWhole = (protection: Protection): boolean =>
  protection.stopLoss !== null && protection.takeProfit !== null;

async function recordProtection(
  { deps, lease, trade }: TradeWork,
  status: 'verified' | 'repaired' | 'missing',
  text: string,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    await assertHeld(tx, lease);
    await tx.update(trades).set({ protectionStatus: status }).where(eq(trades.id, trade.id));
    await addTimeline(tx, { tradeId: trade.id, at: deps.clock.now(), text });
  });
}
