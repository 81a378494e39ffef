import { D } from '#domain/decimal.ts';
import type { EngineDeps } from '#server/deps.ts';
import {
  type CloseRequest,
  type CloseResult,
  type FoundPosition,
  listUnsettledCloses,
  stepTowardsClosed,
} from './close-position.ts';

/** Without closing anything more. A position far above the largest market order takes longer. */
const CLOSE_LIMIT_MS = 15_000;
const CLOSE_POLL_MS = 200;
const MOST_REFUSALS = 3;
/** Closing orders that were looked up and stay open this long are cancelled, and another order closes the rest. */
const UNDER_WAY_LIMIT_MS = 3_000;

/** Whether nothing of what was to be closed is open any more. */
export const isClosed = ({ outcome }: CloseResult): boolean =>
  ['flat', 'kept', 'leftovers', 'other'].includes(outcome);

/**
 * Closes a position step by step until the exchange reports no more open than what is to stay, nothing more of it closes
 * for 15 s, `longestMs` pass, or it has refused three times. Safe to repeat, also after a crash. `found`: the position as
 * just read.
 */
export async function closeUntilDone(
  deps: EngineDeps,
  request: CloseRequest,
  { longestMs = Number.POSITIVE_INFINITY, found }: { longestMs?: number; found?: FoundPosition } = {},
): Promise<CloseResult> {
  const begun = deps.clock.monotonicMs();
  let progressAt = begun;
  let underWaySince = begun;
  let least: string | null = null;
  let refusals = 0;
  for (let shown = found; ; shown = undefined) {
    const { result, open } = await stepTowardsClosed(deps, request, shown);
    const now = deps.clock.monotonicMs();
    if (open !== null) {
      if (least !== null && D(open).lt(least)) progressAt = now;
      if (least === null || D(open).lt(least)) least = open;
    }
    if (result.outcome === 'refused') refusals += 1;
    const isOver = now - progressAt > CLOSE_LIMIT_MS || now - begun > longestMs;
    if (isClosed(result) || refusals >= MOST_REFUSALS || isOver) return result;
    if (result.outcome !== 'pending' || result.isSent) underWaySince = now;
    await deps.clock.sleep(CLOSE_POLL_MS);
    if (now - underWaySince > UNDER_WAY_LIMIT_MS) await cancelWhatStaysOpen(deps, request);
  }
}

/** Cancels closing orders that stay open. Their fills have reduced the position; the next order closes the rest. */
async function cancelWhatStaysOpen(
  deps: Pick<EngineDeps, 'db'>,
  { exchange, account, token }: CloseRequest,
): Promise<void> {
  const { userId } = account;
  const underWay = await listUnsettledCloses(deps.db, { userId, token, exchangePlatform: exchange.platform });
  for (const { clientOrderId } of underWay) await exchange.cancelOrder(account, { token, clientOrderId });
}
