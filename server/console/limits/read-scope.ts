import { sql } from 'drizzle-orm';
import type { RiskLimitsAnswer, RiskUse } from '#contract/risk-limits.ts';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import {
  countsFor,
  exposureOf,
  isOfScope,
  type KnownEquity,
  type OpenEntry,
  riskOf,
} from '#domain/limits/check-entry.ts';
import { limitInUsdt, NO_LIMITS, type RiskScope, STOPPING_LIMITS } from '#domain/limits/risk-limits.ts';
import { isWithinHours, nextOpening } from '#domain/limits/trading-hours.ts';
import type { Deps } from '#server/deps.ts';
import {
  findRiskLimits,
  listOpenBreaches,
  type RiskLimitsRow,
} from '#server/engine/limits/risk-limits.store.ts';
import { scopeTitle } from '#server/engine/limits/scope-title.ts';
import type { Queryable } from '#server/platform/db/database.ts';

/** What every scope is compared with, read once for all of them. */
export interface EntriesNow {
  open: OpenEntry[];
  equities: KnownEquity[];
  counts: { userId: string; strategy: string; entries: number }[];
}

export async function readEntriesNow({
  db,
  config,
  clock,
}: Pick<Deps, 'db' | 'config' | 'clock'>): Promise<EntriesNow> {
  const now = clock.now();
  const [open, equities, counts] = await Promise.all([
    db.execute<OpenEntry & Record<string, unknown>>(sql`
      select user_id as "userId", strategy, token, side, quantity::text, price::text, stop_loss::text as "stopLoss"
      from open_entries`),
    db.execute<KnownEquity & Record<string, unknown>>(sql`
      select user_id as "userId", equity::text, follows from known_equities
      where exchange_mode = ${config.exchangeMode} and equity_at > ${now}::timestamptz - interval '3 hours'`),
    db.execute<EntriesNow['counts'][number] & Record<string, unknown>>(sql`
      select trades.user_id as "userId", lower(btrim(signals.processor)) as strategy, count(*)::int as entries
      from trades join signals on signals.id = trades.signal_id
      where trades.created_at > ${now}::timestamptz - interval '60 seconds' group by 1, 2`),
  ]);
  return { open: open.rows, equities: equities.rows, counts: counts.rows };
}

/** The limits of a scope, how far each is used, and what they stop. */
export async function readScope(
  deps: Pick<Deps, 'db' | 'config' | 'clock'>,
  scope: RiskScope,
  entries?: EntriesNow,
): Promise<RiskLimitsAnswer> {
  const { db, clock } = deps;
  const [row, breaches, title, now] = await Promise.all([
    findRiskLimits(db, scope),
    listOpenBreaches(db, { now: clock.now(), scope }),
    scopeTitle(db, scope),
    entries ?? readEntriesNow(deps),
  ]);
  const limits = { ...NO_LIMITS, ...row?.limits };
  const { allowedTokens, blockedTokens, schedule } = limits;
  const at = clock.now();
  return {
    scope: { ...scope, title },
    limits: {
      ...limits,
      allowedTokens: allowedTokens && [...allowedTokens],
      blockedTokens: blockedTokens && [...blockedTokens],
      schedule: schedule && {
        zone: schedule.zone,
        windows: schedule.windows.map(({ days, from, to }) => ({ days: [...days], from, to })),
      },
    },
    opensAt:
      schedule === null || isWithinHours(schedule, at)
        ? null
        : (nextOpening(schedule, at)?.toISOString() ?? null),
    uses: row === null ? [] : [...stoppingUses(row), ...entryUses(row, scope, now)],
    breaches: breaches.map(({ id, limit, saw, maximum, at, until }) => ({
      id,
      limit,
      saw,
      maximum,
      at: at.toISOString(),
      until: until?.toISOString() ?? null,
    })),
    unknown: await namedUnknown(db, row?.watched?.unknown ?? {}),
    dayProfit: row?.watched?.dayProfit ?? null,
  };
}

function stoppingUses({ limits, watched }: RiskLimitsRow): RiskUse[] {
  return STOPPING_LIMITS.flatMap((limit): RiskUse[] => {
    const use = watched?.uses[limit];
    if (limits[limit] === null || use === undefined) return [];
    const { used, maximum } = use;
    const unit = limit === 'maxLossesInARow' ? 'count' : 'USDT';
    return [{ limit, used, maximum, unit, written: String(limits[limit]) }];
  });
}

function entryUses({ limits }: RiskLimitsRow, scope: RiskScope, now: EntriesNow): RiskUse[] {
  const { maxOpenPositions, maxExposure, maxRisk, maxEntriesPerMinute } = limits;
  const open = now.open.filter((one) => isOfScope(scope, one));
  const known = now.equities.filter((one) => countsFor(scope, one));
  const sum = (amounts: Decimal[]) => amounts.reduce((total, one) => total.plus(one), D(0));
  const equity = known.length === 0 ? null : sum(known.map((one) => D(one.equity)));
  const count = (limit: string, maximum: number | null, used: number): RiskUse[] =>
    maximum === null
      ? []
      : [{ limit, used: String(used), maximum: String(maximum), unit: 'count', written: String(maximum) }];
  const amount = (limit: string, written: string | null, used: Decimal): RiskUse[] => {
    const maximum = written === null ? null : limitInUsdt(written, equity);
    if (written === null || maximum === null) return [];
    return [{ limit, used: toPlain(used), maximum: toPlain(maximum), unit: 'USDT', written }];
  };
  const recent = now.counts.filter((one) => isOfScope(scope, one));
  return [
    ...count('maxOpenPositions', maxOpenPositions, open.length),
    ...amount('maxExposure', maxExposure, sum(open.map(exposureOf))),
    ...amount('maxRisk', maxRisk, sum(open.map(riskOf))),
    ...count(
      'maxEntriesPerMinute',
      maxEntriesPerMinute,
      recent.reduce((all, one) => all + one.entries, 0),
    ),
  ];
}

async function namedUnknown(db: Queryable, unknown: Record<string, string>) {
  return await Promise.all(
    Object.entries(unknown).map(async ([value, what]) => ({
      username: await scopeTitle(db, { kind: 'user', value }),
      what,
    })),
  );
}
