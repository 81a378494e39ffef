import { eq } from 'drizzle-orm';
import type { UserTradingState } from '#contract/overview.ts';
import { nextOpening, type TradingHours } from '#domain/limits/trading-hours.ts';
import { type KeyState, tradingState } from '#domain/trading-state.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { listHaltedUsers } from '#server/admin/halts/trading-halts.store.ts';
import type { Deps } from '#server/deps.ts';
import { listRiskLimits } from '#server/engine/limits/risk-limits.store.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';

export type StateDeps = Pick<Deps, 'accountGuard' | 'clock' | 'config' | 'db'>;

/** Whether new positions are opened for each user (or this one), by the user's id. */
export async function readTradingStates(
  { accountGuard, clock, config, db }: StateDeps,
  { userId }: { userId?: string | undefined } = {},
): Promise<Map<string, UserTradingState & { key: KeyState }>> {
  const [rows, halted, limits, denyAccount] = await Promise.all([
    db
      .select({ id: users.id, isActive: users.isActive, settings: userSettings })
      .from(users)
      .leftJoin(userSettings, eq(userSettings.userId, users.id))
      .where(userId === undefined ? undefined : eq(users.id, userId)),
    listHaltedUsers(db, userId === undefined ? undefined : [userId]),
    listRiskLimits(db),
    accountGuard.readDenials(),
  ]);
  const now = clock.now();
  const hours = new Map(
    limits.flatMap(({ scopeKind, scopeValue, limits: { schedule } }) =>
      scopeKind === 'user' ? [[scopeValue, schedule] as const] : [],
    ),
  );
  // Users share hours, and far openings take long to find.
  const openings = new Map<string, Date | null>();
  function openingOf(schedule: TradingHours): Date | null {
    const key = JSON.stringify(schedule);
    const known = openings.get(key);
    if (known !== undefined) return known;
    const opening = nextOpening(schedule, now);
    openings.set(key, opening);
    return opening;
  }
  return new Map(
    rows.map(({ id, isActive, settings }) => {
      const denial = denyAccount(id, settings?.exchangePlatform ?? '');
      const key = config.exchangeMode === 'paper' ? 'paper' : keyState(denial);
      const halt = halted.get(id);
      const schedule = hours.get(id) ?? null;
      const state = tradingState({
        isActive,
        activeTrading: settings?.activeTrading ?? false,
        pausedUntil: settings?.tradingPausedUntil ?? null,
        isHalted: halt !== undefined,
        schedule,
        key,
        now,
      });
      const until =
        state === 'paused'
          ? settings?.tradingPausedUntil
          : state === 'outside_hours' && schedule !== null && openingOf(schedule);
      const reason = state === 'halted' ? halt?.reason : state === 'key_refused' ? denial?.reason : null;
      return [
        id,
        { userId: id, state, pausedUntil: until ? until.toISOString() : null, reason: reason ?? null, key },
      ];
    }),
  );
}

function keyState(denial: Denial | null): KeyState {
  if (denial === null) return 'valid';
  if (denial.code === 'exchange_not_connected') return 'missing';
  return denial.code === 'exchange_key_not_inspected' ? 'unchecked' : 'refused';
}
