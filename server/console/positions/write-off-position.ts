import { eq } from 'drizzle-orm';
import { clearHalts } from '#server/admin/halts/trading-halts.store.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import {
  closeTrade,
  findOpenTrade,
  forgetGone,
  type OpenTrade,
  recordGone,
} from '#server/engine/protection/positions.store.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { goneRow } from '#server/engine/protection/record-closings.ts';
import { type AccountDeps, readAccountTrades } from '#server/engine/protection/trades-of-account.ts';
import { addTimeline } from '#server/engine/records/trades.store.ts';
import { aboutTrade } from '#server/platform/audit/audit-subjects.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { trades } from '#server/platform/db/schema.ts';
import { AppError, required } from '#server/platform/http/errors.ts';

/*
 * Write-off of positions that no connected account can show any more: the key was deleted or belongs to another account,
 * or the program runs in another mode.
 *  I7 The record claims nothing about how the position ended; it keeps who wrote it off, when and why.
 *  I4 A halt that waited for the account to show the position safe now waits only for an administrator.
 */

/**
 * Marks a position as ended, so that the user's signals in the token are traded again. Sends nothing to an exchange.
 * Refused while the connected account can show the position and while its order is not settled.
 */
export async function writeOffPosition(
  deps: AccountDeps & Pick<Deps, 'audit' | 'clock' | 'log'>,
  reader: AccountReader,
  { tradeId, by, actor }: { tradeId: string; by: { id: string; username: string }; actor: AuditActor },
): Promise<OpenTrade> {
  const { audit, db, clock, log } = deps;
  const found = required(await findOpenTrade(db, tradeId), 'positionNotFound');
  if (found.state !== 'done') throw new AppError('orderFollowed');
  const { userId, exchangePlatform, token } = found;
  const key = { userId, exchangePlatform };
  const { hidden } = await readAccountTrades(deps, key);
  const { why } = required(
    hidden.find(({ trade }) => trade.id === tradeId),
    'positionNotHidden',
  );
  const now = clock.now();
  const text = `written off by ${by.username}: ${why}`;
  await db.transaction(async (tx) => {
    await forgetGone(tx, tradeId);
    await recordGone(tx, goneRow(deps, { key, trade: found, since: now }));
    if (!(await closeTrade(tx, tradeId, now))) throw new AppError('positionNotFound');
    await tx.update(trades).set({ writtenOffBy: by.id, writtenOffAt: now }).where(eq(trades.id, tradeId));
    await addTimeline(tx, { tradeId, at: now, text: `Its position was ${text}` });
    const positions = [{ ...key, token, how: `The position was ${text}` }];
    await clearHalts(tx, { positions, now, audit, actor });
    const { username } = required(await findUser(tx, userId), 'userNotFound').user;
    await audit.record(tx, {
      actor,
      action: 'position written off',
      subject: aboutTrade(found, username),
      after: { userId, exchangePlatform, why },
    });
  });
  reader.forget(key);
  log.warn({ tradeId, ...key, token, by: by.id, why }, 'a position was written off');
  return found;
}
