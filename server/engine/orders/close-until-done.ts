import type { EngineDeps } from '#server/deps.ts';
import { type CloseRequest, type CloseResult, closePosition, listUnsettledCloses } from './close-position.ts';

const CLOSE_LIMIT_MS = 15_000;
const CLOSE_POLL_MS = 200;
const MOST_REFUSALS = 3;
/** A closing order that stays open this long after the first one is cancelled, and another order closes the rest. */
const UNDER_WAY_LIMIT_MS = 3_000;

/** Whether nothing of what was to be closed is open any more. */
export const isClosed = ({ outcome }: CloseResult): boolean =>
  ['flat', 'kept', 'leftovers', 'other'].includes(outcome);

/**
 * Closes a position step by step until the exchange reports no more open than what is to stay, the time limit passes, or
 * it has refused three times. Safe to repeat, also after a crash. `onStep` is called after each step.
 */
export async function closeUntilDone(
  deps: EngineDeps,
  request: CloseRequest,
  onStep: () => void = () => {},
): Promise<CloseResult> {
  const begun = deps.clock.monotonicMs();
  let refusals = 0;
  for (;;) {
    const result = await closePosition(deps, request);
    onStep();
    if (result.outcome === 'refused') refusals += 1;
    if (isClosed(result) || refusals >= MOST_REFUSALS || deps.clock.monotonicMs() - begun > CLOSE_LIMIT_MS)
      return result;
    await deps.clock.sleep(CLOSE_POLL_MS);
    if (deps.clock.monotonicMs() - begun > UNDER_WAY_LIMIT_MS) await cancelWhatStaysOpen(deps, request);
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
