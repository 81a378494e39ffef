import { sql } from 'drizzle-orm';
import type { OverviewAccount, OverviewAnswer, UserTradingState } from '#contract/overview.ts';
import type { OpenPositionView } from '#contract/positions.ts';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import { type KeyState, TRADING_STATES } from '#domain/trading-state.ts';
import type { Deps } from '#server/deps.ts';
import { listAccounts } from '#server/engine/protection/positions.store.ts';
import { type AccountReader, createAccountReader } from '#server/engine/protection/read-account.ts';
import { dayStart } from '#server/platform/day-start.ts';
import type { Db } from '#server/platform/db/database.ts';
import { readAccounts } from '../positions/list-positions.ts';
import { type BalanceReader, createBalanceReader, type KnownEquity } from './balance-reader.ts';
import { listActivity } from './list-activity.ts';
import { readTradingStates } from './trading-states.ts';

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
  const [results, fills, activity] = await Promise.all([
    sumResults(db, { since, today, userId }),
    countFills(db, { since, userId }),
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
  return {
    at: now.toISOString(),
    netToday: results.today,
    net7d: results.week,
    open: {
      ...sumOpen(open),
      unread: readings.filter(({ unreachable }) => unreachable !== null).length,
    },
    equity: known.length === 0 ? null : toPlain(sum(known)),
    wins: results.wins,
    fills,
    accounts: shown.toSorted(byUrgency),
    activity,
  };
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
  state,
  reading: { open, unreachable },
  known,
}: {
  state: UserTradingState & { key: KeyState };
  reading: Awaited<ReturnType<typeof readAccounts>>[number];
  known: KnownEquity | null;
}): Omit<OverviewAccount, 'username' | 'exchangePlatform' | 'net7d'> {
  return {
    ...state,
    equity: known?.equity ?? null,
    equityAt: known?.readAt.toISOString() ?? null,
    exposure: unreachable === null ? toPlain(sum(open.map(valueAtMark))) : null,
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

interface UserResults {
  [field: string]: unknown;
  userId: string;
  netToday: string;
  grossToday: string;
  tradesToday: number;
  unknownToday: number;
  net: string;
  gross: string;
  trades: number;
  unknown: number;
  won: number;
}

/** Results of closed positions, added up by user in one statement. */
async function sumResults(
  db: Db,
  { since, today, userId }: { since: Date; today: Date; userId: string | undefined },
) {
  const { rows } = await db.execute<UserResults>(sql`
    select user_id as "userId",
      coalesce(sum(net) filter (where is_today), 0)::text as "netToday",
      coalesce(sum(realised_profit) filter (where is_today), 0)::text as "grossToday",
      count(*) filter (where is_today)::int as "tradesToday",
      count(*) filter (where is_today and net is null)::int as "unknownToday",
      coalesce(sum(net), 0)::text as net, coalesce(sum(realised_profit), 0)::text as gross,
      count(*)::int as trades, count(*) filter (where net is null)::int as unknown,
      count(*) filter (where net > 0)::int as won
    from (
      select user_id, realised_profit, realised_profit - coalesce(fees, 0) as net,
        closed_at >= ${today} as is_today
      from closed_positions
      where closed_at >= ${since} and ${userId === undefined ? sql`true` : sql`user_id = ${userId}`}
    ) as closed group by user_id`);
  const total = (of: (row: UserResults) => string) => toPlain(sum(rows.map((row) => D(of(row)))));
  const count = (of: (row: UserResults) => number) => rows.reduce((all, row) => all + of(row), 0);
  return {
    today: {
      amount: total((row) => row.netToday),
      gross: total((row) => row.grossToday),
      trades: count((row) => row.tradesToday),
      unknown: count((row) => row.unknownToday),
    },
    week: {
      amount: total((row) => row.net),
      gross: total((row) => row.gross),
      trades: count((row) => row.trades),
      unknown: count((row) => row.unknown),
    },
    wins: { won: count((row) => row.won), trades: count((row) => row.trades - row.unknown) },
    ofUser: new Map(rows.map((row) => [row.userId, row.net])),
  };
}

async function countFills(
  db: Db,
  { since, userId }: { since: Date; userId: string | undefined },
): Promise<OverviewAnswer['fills']> {
  const { rows } = await db.execute<{ filled: number; orders: number }>(sql`
    select count(*)::int as orders,
      count(*) filter (where fill_status in ('filled', 'partial'))::int as filled
    from trades
    where created_at >= ${since} and state = 'done'
      and ${userId === undefined ? sql`true` : sql`user_id = ${userId}`}`);
  return rows[0] ?? { filled: 0, orders: 0 };
}
