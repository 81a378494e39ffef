import { and, eq, isNull, lte, sql } from 'drizzle-orm';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import { countsFor, isOfScope } from '#domain/limits/check-entry.ts';
import { hasStoppingLimit, type RiskScope, type StoppingLimit } from '#domain/limits/risk-limits.ts';
import {
  dailyLossUse,
  dayProfit,
  drawdownUse,
  type LimitUse,
  lossesInARow,
  lossesUse,
  nextPeak,
  openProfitAtStart,
  type ReadAt,
} from '#domain/limits/stopping-limits.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import type { Deps } from '#server/deps.ts';
import { dayStart } from '#server/platform/day-start.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { riskBreaches, riskLimits, type WatchedFigures } from '#server/platform/db/schema.ts';
import { eachAlone } from '#server/platform/each-alone.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { noteEvents } from '#server/platform/notices/note-event.ts';
import type { ScopeFlattener } from './flatten-scope.ts';
import {
  listLastProfits,
  type OpenProfit,
  type ProfitFigures,
  readProfitFigures,
  readRealisedSince,
} from './profit-figures.store.ts';
import { listRiskLimits, type RiskLimitsRow, scopeOf } from './risk-limits.store.ts';
import { scopeTitle } from './scope-title.ts';

type WatchDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'audit' | 'log'>;
type Watching = WatchDeps & { flattener: ScopeFlattener };

/** A position's account is read every half minute: what was read before this is not known any more. */
const READING_LASTS_MS = 2 * 60_000;
const LOOK_EVERY_MS = 3_000;
/** A day has at most 25 hours. */
const INTO_NEXT_DAY_MS = 26 * 60 * 60_000;

interface Reached {
  limit: StoppingLimit;
  saw: string;
  maximum: string;
  until: Date | null;
}

interface Compared {
  watched: WatchedFigures;
  reached: Reached[];
  set: Pick<Partial<RiskLimitsRow>, 'peak' | 'lossesSince'>;
}

/**
 * Compares the limits that stop entries with what happened: loss of the day, drawdown, losses in a row. Reads only the
 * database. A limit that is reached becomes a breach, which entries are checked against in their own transaction.
 */
export function createLimitWatch(deps: Watching): { run(): Promise<void> } {
  const { db, clock, config, log, flattener } = deps;

  async function compare(
    row: RiskLimitsRow,
    of: { figures: ProfitFigures; now: Date; dayStart: Date; nextDay: Date },
  ): Promise<Compared> {
    const { figures, now, nextDay } = of;
    const scope = scopeOf(row);
    const { maxDailyLoss, maxDrawdown, maxLossesInARow, cooldownMinutes } = row.limits;
    const seen = profitsOf(scope, of);
    const unknown = maxDailyLoss === null && maxDrawdown === null ? {} : seen.unknown;
    const uses: WatchedFigures['uses'] = {};
    const reached: Reached[] = [];
    const set: Compared['set'] = {};
    const note = (limit: StoppingLimit, use: LimitUse, until: Date | null) => {
      uses[limit] = use;
      if (use.isReached) reached.push({ limit, saw: use.saw, maximum: use.shownMaximum, until });
    };
    // What is not known of a user is no figure of that user.
    const isKnown = () => scope.kind !== 'user' || unknown[scope.value] === undefined;

    if (maxDailyLoss !== null) {
      const equity = equityOf(scope, figures, 'equityAtStart');
      if (maxDailyLoss.endsWith('%')) noteUnknownEquities(scope, figures, 'equityAtStart', unknown);
      const isResetToday = row.dayReset !== null && new Date(row.dayReset.at) >= of.dayStart;
      const profit = seen.day.minus(isResetToday ? (row.dayReset?.profit ?? 0) : 0);
      const use = dailyLossUse(maxDailyLoss, { profit, equity });
      if (use !== null && isKnown()) note('maxDailyLoss', use, nextDay);
    }
    if (maxDrawdown !== null) {
      const { profit: realised, unknownOf } = await readRealisedSince(db, {
        scope,
        since: row.drawdownSince,
      });
      for (const userId of unknownOf) unknown[userId] ??= UNTOLD;
      noteUnknownEquities(scope, figures, 'equity', unknown);
      const equity = equityOf(scope, figures, 'equity');
      if (equity !== null && isKnown()) {
        const profit = D(realised).plus(seen.open);
        const before = row.peak === null ? null : { ...row.peak, at: new Date(row.peak.at) };
        const peak = nextPeak(before, { profit, equity, at: now });
        if (peak !== before) set.peak = { ...peak, at: peak.at.toISOString() };
        note('maxDrawdown', drawdownUse(maxDrawdown, { peak, profit }), null);
      }
    }
    if (maxLossesInARow !== null) {
      const { unknownOf } = await readRealisedSince(db, { scope, since: row.lossesSince });
      for (const userId of unknownOf) unknown[userId] ??= UNTOLD;
      const last = await listLastProfits(db, { scope, after: row.lossesSince, limit: maxLossesInARow });
      const use = lossesUse(maxLossesInARow, lossesInARow(last.map(({ profit }) => profit)));
      const newest = last[0]?.closedAt ?? now;
      const until = cooldownMinutes === null ? null : new Date(newest.getTime() + cooldownMinutes * 60_000);
      note('maxLossesInARow', use, until);
      // They are counted once: after the stop a new row begins.
      if (use.isReached) set.lossesSince = newest;
    }
    return { watched: { unknown, uses, dayProfit: toPlain(seen.day) }, reached, set };
  }

  async function write(row: RiskLimitsRow, { watched, reached, set }: Compared, now: Date): Promise<void> {
    const scope = scopeOf(row);
    const isKnown = Object.keys(watched.unknown).length === 0;
    const mayClose = row.limits.onBreach === 'close' && isKnown && reached.length > 0;
    await db.transaction(async (tx) => {
      if (mayClose) await flattener.noEntries(tx);
      const isOfRow = and(eq(riskLimits.scopeKind, scope.kind), eq(riskLimits.scopeValue, scope.value));
      // Limits that were changed or reset meanwhile are compared in the next round.
      const [current] = await tx.select().from(riskLimits).where(isOfRow).for('update');
      const isSame =
        current?.updatedAt.getTime() === row.updatedAt.getTime() &&
        current.drawdownSince.getTime() === row.drawdownSince.getTime();
      if (!isSame) return;
      await tx
        .update(riskLimits)
        .set({ ...set, watched, watchedAt: now })
        .where(isOfRow);
      for (const one of reached) {
        if (one.until !== null && one.until <= now) continue;
        await recordBreach(tx, row, one, { now, closes: mayClose });
      }
    });
  }

  async function recordBreach(
    tx: Tx,
    row: RiskLimitsRow,
    { limit, saw, maximum, until }: Reached,
    { now, closes }: { now: Date; closes: boolean },
  ): Promise<void> {
    const scope = scopeOf(row);
    const [added] = await tx
      .insert(riskBreaches)
      .values({
        id: timeOrderedId(),
        scopeKind: scope.kind,
        scopeValue: scope.value,
        limit,
        saw,
        maximum,
        at: now,
        until,
        closes,
      })
      .onConflictDoNothing()
      .returning();
    if (closes && (added !== undefined || (await closesNow(tx, scope, limit)))) {
      await flattener.flatten(tx, { scope, reason: `${limit} is ${saw}, the limit is ${maximum}` });
    }
    if (added === undefined) return;
    log.warn({ ...scope, limit, saw, maximum, until }, 'a risk limit is reached: new entries are stopped');
    await deps.audit.record(tx, {
      actor: ENGINE,
      action: 'risk limit reached',
      subject: { kind: 'risk limits', id: scope.value || null, name: await scopeTitle(tx, scope) },
      after: { limit, saw, maximum, until: until?.toISOString() ?? null },
    });
    const told = { scope: await scopeTitle(tx, scope), limit, saw: String(saw), maximum: String(maximum) };
    const userId = scope.kind === 'user' ? scope.value : null;
    await noteEvents(tx, [{ code: 'limit_reached', userId, data: told, at: now }]);
  }

  /** A breach whose figures were not known at first closes when they are. */
  async function closesNow(tx: Tx, { kind, value }: RiskScope, limit: StoppingLimit): Promise<boolean> {
    const isOpen = and(isNull(riskBreaches.endedAt), eq(riskBreaches.closes, false));
    const isOf = and(eq(riskBreaches.scopeKind, kind), eq(riskBreaches.scopeValue, value));
    const changed = await tx
      .update(riskBreaches)
      .set({ closes: true })
      .where(and(isOf, isOpen, eq(riskBreaches.limit, limit)))
      .returning({ id: riskBreaches.id });
    return changed.length > 0;
  }

  return {
    async run() {
      const now = clock.now();
      await db
        .update(riskBreaches)
        .set({ endedAt: sql`${riskBreaches.until}` })
        .where(and(isNull(riskBreaches.endedAt), lte(riskBreaches.until, now)));
      const rows = (await listRiskLimits(db)).filter(({ limits }) => hasStoppingLimit(limits));
      if (rows.length === 0) return;
      const start = dayStart(now, config.displayTimezone);
      const nextDay = dayStart(new Date(start.getTime() + INTO_NEXT_DAY_MS), config.displayTimezone);
      const figures = await readProfitFigures(db, { now, dayStart: start, mode: config.exchangeMode });
      await eachAlone(
        rows,
        async (row) => write(row, await compare(row, { figures, now, dayStart: start, nextDay }), now),
        (err, row) => log.error({ err, ...scopeOf(row) }, 'the risk limits of a scope could not be compared'),
      );
    },
  };
}

const UNTOLD = 'the exchange has not told the profit of a closed position yet';

/** Day and open profit of a scope, and what is not known of its users. */
function profitsOf(
  scope: RiskScope,
  { figures, now, dayStart: start }: { figures: ProfitFigures; now: Date; dayStart: Date },
): { day: Decimal; open: Decimal; unknown: Record<string, string> } {
  const unknown: Record<string, string> = {};
  let [open, atStart, realised] = [D(0), D(0), D(0)];
  for (const one of figures.open) {
    if (!isOfScope(scope, one)) continue;
    const problem = whyUnknown(one, now);
    if (problem !== null) unknown[one.userId] ??= problem;
    // The last known figure counts for the others.
    open = open.plus(one.openProfit ?? 0);
  }
  for (const one of figures.atStart) {
    if (!isOfScope(scope, one)) continue;
    const profit = openProfitAtStart({
      dayStart: start,
      before: readAt(one.before, one.beforeAt),
      first: readAt(one.first, one.firstAt),
    });
    if (profit === null) {
      unknown[one.userId] ??= `the open profit of ${one.token} at the start of the day was not read`;
    }
    atStart = atStart.plus(profit ?? 0);
  }
  for (const one of figures.realised) {
    if (!isOfScope(scope, one)) continue;
    if (one.unknown > 0) unknown[one.userId] ??= UNTOLD;
    realised = realised.plus(one.profit);
  }
  const [realisedText, openNow, openAtStart] = [realised, open, atStart].map(toPlain) as [
    string,
    string,
    string,
  ];
  return { day: dayProfit({ realised: realisedText, openNow, openAtStart }), open, unknown };
}

const readAt = (figure: string | null, at: Date | null): ReadAt<string> | null =>
  figure === null || at === null ? null : { figure, at };

/** A position is read every half minute; before its first reading it has no profit worth counting. */
function whyUnknown({ token, openProfit, since, readAt: at }: OpenProfit, now: Date): string | null {
  const ageMs = (of: Date) => now.getTime() - of.getTime();
  if (openProfit !== null && at !== null) {
    return ageMs(at) <= READING_LASTS_MS
      ? null
      : `the position in ${token} was last read ${Math.round(ageMs(at) / 1_000)} s ago`;
  }
  const isNew = ageMs(since) <= READING_LASTS_MS && (at === null || at <= since);
  return isNew ? null : `the account does not show the position in ${token}, and its end is not known`;
}

type EquityOf = 'equity' | 'equityAtStart';

/** The summed known equity of a scope; null when none is known. */
function equityOf(scope: RiskScope, { equities }: ProfitFigures, which: EquityOf): Decimal | null {
  const known = equities.flatMap((one) => {
    const equity = one[which];
    return equity === null || !countsFor(scope, one) ? [] : [D(equity)];
  });
  return known.length === 0 ? null : known.reduce((sum, one) => sum.plus(one), D(0));
}

function noteUnknownEquities(
  scope: RiskScope,
  { equities }: ProfitFigures,
  which: EquityOf,
  unknown: Record<string, string>,
): void {
  const what =
    which === 'equity' ? 'the equity was not read' : 'the equity at the start of the day was not read';
  for (const one of equities) {
    if (countsFor(scope, one) && one[which] === null) unknown[one.userId] ??= what;
  }
  if (scope.kind === 'user' && equities.every(({ userId }) => userId !== scope.value)) {
    unknown[scope.value] ??= what;
  }
}

/** Compares every few seconds, one instance at a time; returns a function that stops it. */
export function startLimitWatch(deps: Watching): () => void {
  const watch = createLimitWatch(deps);
  let isWatching = false;
  async function run(): Promise<void> {
    if (isWatching) return;
    isWatching = true;
    const lease = {
      db: deps.db,
      clock: deps.clock,
      key: 'limits:watch',
      holder: deps.config.instanceId,
      log: deps.log,
    };
    await withLease(lease, () => watch.run()).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'the risk limits could not be compared'),
    );
    isWatching = false;
  }
  const stop = deps.clock.every(LOOK_EVERY_MS, () => void run());
  void run();
  return stop;
}
