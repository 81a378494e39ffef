import type { Deps } from '#server/deps.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { endHalt, findNamedHalt, type NamedHalt } from './trading-halts.store.ts';

/**
 * An administrator lets the user trade again. Refused until the exchange shows the position closed or protected, so
 * that nobody trades on beside a position without a stop (docs/decisions/0008).
 */
export async function resumeTrading(
  deps: Pick<Deps, 'db' | 'clock'>,
  { id, by }: { id: string; by: string },
): Promise<NamedHalt> {
  const ended = await endHalt(deps.db, { id, by, now: deps.clock.now() });
  const found = await findNamedHalt(deps.db, id);
  if (found === null) throw new AppError('tradingHaltNotFound');
  if (!ended) throw new AppError(found.halt.endedAt === null ? 'tradingHaltNotCleared' : 'tradingHaltEnded');
  return found;
}
