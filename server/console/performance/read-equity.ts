import type { CurrentUser } from '#contract/auth.ts';
import type { EquityAnswer, EquityQuery, EquityTrendsAnswer } from '#contract/performance.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { largestDrawdown } from '#domain/results/drawdown.ts';
import type { Deps } from '#server/deps.ts';
import { listAccounts } from '#server/engine/protection/positions.store.ts';
import { AppError } from '#server/platform/http/errors.ts';
import { firstRecorded, listEquityTrends, type Recorded, sumEquity } from './equity.store.ts';

type EquityDeps = Pick<Deps, 'db' | 'clock' | 'config'>;

const DAY_MS = 86_400_000;
/** Longer ranges have a point a day. One more hour where the clocks change. */
const MOST_MS_BY_HOUR = 8 * DAY_MS + 3_600_000;
/** Longer ranges have a point a week. */
const MOST_MS_BY_DAY = 100 * DAY_MS;
const TREND_DAYS = 7;
const TREND_STEP_HOURS = 6;

/** Of everybody for administrators, unless they name a user; others see only their own. */
function recordedFor({ clock, config }: EquityDeps, user: CurrentUser, userId: string | undefined): Recorded {
  if (!user.isAdmin && userId !== undefined && userId !== user.id) throw new AppError('adminOnly');
  return { userId: user.isAdmin ? userId : user.id, mode: config.exchangeMode, now: clock.now() };
}

/** What the accounts were worth over time. */
export async function readEquity(
  deps: EquityDeps,
  user: CurrentUser,
  query: EquityQuery,
): Promise<EquityAnswer> {
  const { db, config } = deps;
  const recorded = recordedFor(deps, user, query.userId);
  const { now, userId, mode } = recorded;
  const from = query.from ?? (await firstRecorded(db, recorded)) ?? now;
  const to = query.to === undefined || query.to > now ? null : query.to;
  const lengthMs = (to ?? now).getTime() - from.getTime();
  const unit = lengthMs <= MOST_MS_BY_HOUR ? 'hour' : lengthMs <= MOST_MS_BY_DAY ? 'day' : 'week';
  const timeZone = config.displayTimezone;
  const accounts = await listAccounts(db, { userId });
  const sums = await sumEquity(db, recorded, { from, to, unit, timeZone, accounts });
  const first = sums[0]?.gain ?? '0';
  const points = sums.map(({ at, equity, gain, accounts: counted, read }) => ({
    at,
    equity: toPlain(equity),
    change: toPlain(D(gain).minus(first)),
    accounts: counted,
    complete: read === counted,
  }));
  return {
    timeZone,
    unit,
    points,
    maxDrawdown: largestDrawdown(points),
    deposits: mode === 'paper' ? 'none' : 'unknown',
    at: now.toISOString(),
  };
}

/** The last days of each account, for small pictures. */
export async function readEquityTrends(deps: EquityDeps, user: CurrentUser): Promise<EquityTrendsAnswer> {
  const recorded = recordedFor(deps, user, undefined);
  const since = new Date(recorded.now.getTime() - TREND_DAYS * DAY_MS);
  const rows = await listEquityTrends(deps.db, recorded, { since, stepHours: TREND_STEP_HOURS });
  const accounts: EquityTrendsAnswer['accounts'] = [];
  for (const { userId, exchangePlatform, at, equity } of rows) {
    const last = accounts.at(-1);
    const point = { at, equity: toPlain(equity) };
    // In the order of accounts.
    if (last?.userId === userId && last.exchangePlatform === exchangePlatform) last.points.push(point);
    else accounts.push({ userId, exchangePlatform, points: [point] });
  }
  return { accounts, at: recorded.now.toISOString() };
}
