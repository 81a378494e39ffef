import { eq } from 'drizzle-orm';
import type { TradingStatesAnswer, UserTradingState } from '#contract/overview.ts';
import { toPlain } from '#domain/decimal.ts';
import { nextOpening, type TradingHours } from '#domain/limits/trading-hours.ts';
import { type KeyState, tradingState } from '#domain/trading-state.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import { listHaltedUsers } from '#server/admin/halts/trading-halts.store.ts';
import type { Deps } from '#server/deps.ts';
import { listRiskLimits } from '#server/engine/limits/risk-limits.store.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';
import { listKnownEquities, sumResults } from './overview.store.ts';

export type StateDeps = Pick<Deps, 'accountGuard' | 'clock' | 'config' | 'db'>;

export type StateOfUser = UserTradingState & {
  key: KeyState;
  /** The user's own limit of exposure, as written. */
  maxExposure: string | null;
};

const WEEK_MS = 7 * 24 * 3_600_000;

/** The states of all users, with what each is worth and made lately. */
export async function listTradingStates(deps: StateDeps): Promise<TradingStatesAnswer> {
  const { clock, config, db } = deps;
  const now = clock.now();
  const since = new Date(now.getTime() - WEEK_MS);
  const [states, equities, { ofUser }] = await Promise.all([
    readTradingStates(deps),
    listKnownEquities(db, { now, mode: config.exchangeMode }),
    sumResults(db, { since, today: now, userId: undefined }),
  ]);
  return {
    states: [...states.values()].map((state) => {
      const known = equities.get(state.userId);
      return {
        ...state,
        equity: known === undefined ? null : toPlain(known.equity),
        equityAt: known?.equityAt.toISOString() ?? null,
        net7d: toPlain(ofUser.get(state.userId) ?? '0'),
      };
    }),
  };
}

/** Whether new positions are opened for each user (or this one), by the user's id. */
export async function readTradingStates(
  { accountGuard, clock, config, db }: StateDeps,
  { userId }: { userId?: string | undefined } = {},
): Promise<Map<string, StateOfUser>> {
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
  const ofUsers = new Map(
    limits.flatMap(({ scopeKind, scopeValue, limits: own }) =>
      scopeKind === 'user' ? [[scopeValue, own] as const] : [],
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
      const { schedule = null, maxExposure = null } = ofUsers.get(id) ?? {};
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
        {
          userId: id,
          state,
          pausedUntil: until ? until.toISOString() : null,
          reason: reason ?? null,
          key,
          maxExposure,
        },
      ];
    }),
  );
}

function keyState(denial: Denial | null): KeyState {
  if (denial === null) return 'valid';
  if (denial.code === 'exchange_not_connected') return 'missing';
  return denial.code === 'exchange_key_not_inspected' ? 'unchecked' : 'refused';
}
