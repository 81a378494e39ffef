import { eq } from 'drizzle-orm';
import type { UserTradingState } from '#contract/overview.ts';
import { type KeyState, tradingState } from '#domain/trading-state.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { listHaltedUsers } from '#server/admin/halts/trading-halts.store.ts';
import type { Deps } from '#server/deps.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';

export type StateDeps = Pick<Deps, 'accountGuard' | 'clock' | 'config' | 'db'>;

/** Whether new positions are opened for each user (or this one), by the user's id. */
export async function readTradingStates(
  { accountGuard, clock, config, db }: StateDeps,
  { userId }: { userId?: string | undefined } = {},
): Promise<Map<string, UserTradingState & { key: KeyState }>> {
  const [rows, halted, denyAccount] = await Promise.all([
    db
      .select({ id: users.id, isActive: users.isActive, settings: userSettings })
      .from(users)
      .leftJoin(userSettings, eq(userSettings.userId, users.id))
      .where(userId === undefined ? undefined : eq(users.id, userId)),
    listHaltedUsers(db, userId === undefined ? undefined : [userId]),
    accountGuard.readDenials(),
  ]);
  const now = clock.now();
  return new Map(
    rows.map(({ id, isActive, settings }) => {
      const denial = denyAccount(id, settings?.exchangePlatform ?? '');
      const key = config.exchangeMode === 'paper' ? 'paper' : keyState(denial);
      const halt = halted.get(id);
      const state = tradingState({
        isActive,
        activeTrading: settings?.activeTrading ?? false,
        pausedUntil: settings?.tradingPausedUntil ?? null,
        isHalted: halt !== undefined,
        key,
        now,
      });
      const until = state === 'paused' ? (settings?.tradingPausedUntil?.toISOString() ?? null) : null;
      const reason = state === 'halted' ? halt?.reason : state === 'key_refused' ? denial?.reason : null;
      return [id, { userId: id, state, pausedUntil: until, reason: reason ?? null, key }];
    }),
  );
}

function keyState(denial: Denial | null): KeyState {
  if (denial === null) return 'valid';
  if (denial.code === 'exchange_not_connected') return 'missing';
  return denial.code === 'exchange_key_not_inspected' ? 'unchecked' : 'refused';
}
