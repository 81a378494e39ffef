import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '#server/deps.ts';
import { findTrade } from './trades.store.ts';

const POLL_MS = 200;

/** Returns when the trade is done, after `limitMs`, or when nobody waits any more. The trade goes on regardless. */
export async function followOrder(
  { db }: Pick<Deps, 'db'>,
  options: { tradeId: string; limitMs: number; signal: AbortSignal },
): Promise<void> {
  const { tradeId, limitMs, signal } = options;
  const deadline = performance.now() + limitMs;
  while (!signal.aborted && performance.now() < deadline) {
    const trade = await findTrade(db, tradeId);
    if (trade === null || trade.state === 'done') return;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
