import type { OverviewAccount, OverviewAnswer } from '#contract/overview.ts';
import type { OpenPositionView } from '#contract/positions.ts';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import { limitInUsdt } from '#domain/limits/risk-limits.ts';
import { TRADING_STATES } from '#domain/trading-state.ts';
import type { Deps } from '#server/deps.ts';
import { findRiskLimits } from '#server/engine/limits/risk-limits.store.ts';
import { listAccounts } from '#server/engine/protection/positions.store.ts';
import { type AccountReader, createAccountReader } from '#server/engine/protection/read-account.ts';
import { dayStart } from '#server/platform/day-start.ts';
import { readAccounts } from '../positions/list-positions.ts';
import { type BalanceReader, createBalanceReader, type KnownEquity } from './balance-reader.ts';
import { listActivity } from './list-activity.ts';
import { countFills, countOutcomes, sumResults } from './overview.store.ts';
import { readTradingStates, type StateOfUser } from './trading-states.ts';

interface OverviewReaders {
  positions: AccountReader;
  balances: BalanceReader;
}
type OverviewDeps = Pick<Deps, 'accountGuard' | 'clock' | 'config' | 'db' | 'log'>;

const WEEK_MS = 7 * 24 * 3_600_000;
const ACTIVITIES = 20;
/** The figures are in sight all the time: accounts are not read for every look. */
const POSITIONS_AGE_MS = 5_000;

/** Reads how the installation (or one user) stands: results, open positions, accounts and what happened lately. */
export function createOverview(deps: Deps): (of?: { userId?: string }) => Promise<OverviewAnswer> {
  const readers = { positions: createAccountReader(deps), balances: createBalanceReader(deps) };
  return (of = {}) => readOverview(deps, readers, of);
}

async function readOverview(
  deps: OverviewDeps,
  readers: OverviewReaders,
  { userId }: { userId?: string },
): Promise<OverviewAnswer> {
  const { clock, config, db } = deps;
  const now = clock.now();
  const since = new Date(now.getTime() - WEEK_MS);
  const today = dayStart(now, config.displayTimezone);
  const accounts = await listAccounts(db, { userId });
  const [readings, equities, states] = await Promise.all([
    readAccounts(deps, readers.positions, { accounts, youngestMs: POSITIONS_AGE_MS }),
    readers.balances.read(accounts),
    readTradingStates(deps, { userId }),
  ]);
  // Afterwards: reading the accounts may have recorded closed positions.
  const isOfAll = userId === undefined;
  const [results, fills, outcomes, limits, activity] = await Promise.all([
    sumResults(db, { since, today, userId }),
    countFills(db, { since, userId }),
    isOfAll ? countOutcomes(db, { since: today }) : null,
    findRiskLimits(db, isOfAll ? { kind: 'program', value: '' } : { kind: 'user', value: userId }),
    listActivity(db, { userId: userId ?? null, since, limit: ACTIVITIES }),
  ]);
  const open = readings.flatMap((reading) => reading.open);
  const shown = accounts.flatMap((account, index) => {
    const state = states.get(account.userId);
    const reading = readings[index];
    if (state === undefined || reading === undefined) return [];
    return {
      ...account,
      ...describeAccount({ state, reading, known: equities[index] ?? null }),
      net7d: toPlain(results.ofUser.get(account.userId) ?? '0'),
    };
  });
  const known = equities.flatMap((one) => (one === null ? [] : [D(one.equity)]));
  const equity = known.length === 0 ? null : sum(known);
  return {
    at: now.toISOString(),
    exchangeMode: config.exchangeMode,
    netToday: results.today,
    net7d: results.week,
    open: {
      ...sumOpen(open),
      riskLimit: limitOf(limits?.limits.maxRisk ?? null, equity),
      unread: readings.filter(({ unreachable }) => unreachable !== null).length,
    },
    equity: equity === null ? null : toPlain(equity),
    wins: results.wins,
    fills,
    outcomesToday: outcomes,
    accounts: shown.toSorted(byUrgency),
    activity,
  };
}

/** A limit in USDT; null without one, and while the equity is unknown that it is a share of. */
function limitOf(written: string | null, equity: Decimal | null): string | null {
  const limit = written === null ? null : limitInUsdt(written, equity);
  return limit === null ? null : toPlain(limit);
}

const sum = (amounts: readonly Decimal[]): Decimal =>
  amounts.reduce((total, amount) => total.plus(amount), D(0));

/** The value of a position at its mark, in USDT. */
const valueAtMark = ({ quantity, markPrice, entryPrice }: OpenPositionView): Decimal =>
  D(quantity).times(markPrice ?? entryPrice);

/** What the stop would lose from the present mark: nothing once the mark is beyond it. */
function riskOf({ side, quantity, markPrice, entryPrice, stopLoss }: OpenPositionView): Decimal {
  if (stopLoss === null) return D(0);
  const distance = D(markPrice ?? entryPrice).minus(stopLoss);
  const loss = (side === 'long' ? distance : distance.neg()).times(quantity);
  return loss.gt(0) ? loss : D(0);
}

const sumOpen = (open: readonly OpenPositionView[]) => ({
  profit: toPlain(sum(open.map(({ unrealisedProfit }) => D(unrealisedProfit)))),
  positions: open.length,
  users: new Set(open.map(({ userId }) => userId)).size,
  riskToStops: toPlain(sum(open.map(riskOf))),
  withoutStop: open.filter(({ stopLoss }) => stopLoss === null).length,
});

function describeAccount({
  state: { maxExposure, ...state },
  reading: { open, unreachable },
  known,
}: {
  state: StateOfUser;
  reading: Awaited<ReturnType<typeof readAccounts>>[number];
  known: KnownEquity | null;
}): Omit<OverviewAccount, 'username' | 'exchangePlatform' | 'net7d'> {
  return {
    ...state,
    equity: known?.equity ?? null,
    equityAt: known?.readAt.toISOString() ?? null,
    exposure: unreachable === null ? toPlain(sum(open.map(valueAtMark))) : null,
    exposureLimit: limitOf(maxExposure, known === null ? null : D(known.equity)),
    openPositions: open.length,
    unread: unreachable?.message ?? null,
  };
}

/** Accounts that need a look first, those that are off last. */
function byUrgency(a: OverviewAccount, b: OverviewAccount): number {
  const rank = ({ state, unread }: OverviewAccount) => {
    if (state === 'off') return TRADING_STATES.length;
    return unread === null ? TRADING_STATES.indexOf(state) : 0;
  };
  return rank(a) - rank(b) || (a.username < b.username ? -1 : a.username > b.username ? 1 : 0);
}
