import type {
  ClosedPositionsAnswer,
  ClosedPositionsQuery,
  ClosedPositionView,
  OpenPositionView,
  PositionsAnswer,
  PositionsQuery,
} from '#contract/positions.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { GONE_WITHOUT_NEWS, WRITTEN_OFF } from '#domain/orders/position-differences.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps } from '#server/deps.ts';
import { listShownExits, type ShownExits } from '#server/engine/exits/trade-exits.store.ts';
import {
  type AccountKey,
  type ClosedSums,
  listAccounts,
  listClosedPositions,
  sumClosedPositions,
  sumProfitOverTime,
} from '#server/engine/protection/positions.store.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { describeHidden, type HiddenPosition } from '#server/engine/protection/trades-of-account.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { isoDates } from '#server/platform/iso-dates.ts';

const YOUNGEST_MS = 2_000;
/** With more accounts, readings are reused for longer: 25 accounts a second stay within the exchange's limit per address. */
const MS_AN_ACCOUNT = 40;
/** How long a screen waits for one account; the reading continues and serves the next call. */
const ACCOUNT_LIMIT_MS = 5_000;
const MOST_POINTS = 1_000;

export type Account = AccountKey & { username: string };
type Unreachable = PositionsAnswer['unreachable'][number];

/** Open positions as the exchanges report them now, closed positions as recorded, and sums of both. */
export async function listPositions(
  deps: Pick<Deps, 'db' | 'clock' | 'log'>,
  reader: AccountReader,
  query: PositionsQuery,
): Promise<PositionsAnswer> {
  const { userId, token, limit } = query;
  const accounts = await listAccounts(deps.db, { userId });
  const readings = await readAccounts(deps, reader, { accounts });
  const open = readings
    .flatMap((reading) => reading.open)
    .filter((position) => token === undefined || position.token === token);
  // Read closed positions last: the exchanges' answers may record more of them.
  const [closed, sums, profit] = await Promise.all([
    listClosedPositions(deps.db, { userId, token, limit }),
    sumClosedPositions(deps.db, { userId, token }),
    sumProfitOverTime(deps.db, { userId, token, points: MOST_POINTS }),
  ]);
  const exits = await listShownExits(
    deps.db,
    open.flatMap(({ tradeId }) => tradeId ?? []),
  );
  return {
    open: open.map((position) => withExits(position, exits.get(position.tradeId ?? ''))),
    closed: closed.map(toView),
    closedCount: sums.all.count,
    ...addTotals({ open, closed: sums }),
    cumulativeProfit: profit.map(isoDates),
    unreachable: readings.flatMap(({ unreachable }) => (unreachable === null ? [] : [unreachable])),
    at: deps.clock.now().toISOString(),
  };
}

/** How far the plan of a position is. */
function withExits(position: OpenPositionView, found: ShownExits | undefined): OpenPositionView {
  if (found === undefined) return position;
  const { exits, isBreakEvenDone } = found;
  const { ended, enteredAt, partsDone, planned, problem } = exits;
  if (ended !== null || planned === null) {
    const nothing = { parts: [], breakEven: null, trail: null, until: null, problem: null };
    return { ...position, exits: { ...nothing, ended } };
  }
  const { breakEven, maxHoldingMinutes, parts, trail } = planned;
  const until =
    maxHoldingMinutes === null || enteredAt === null
      ? null
      : new Date(enteredAt.getTime() + maxHoldingMinutes * 60_000).toISOString();
  return {
    ...position,
    exits: {
      parts: parts.map(({ atR, price, quantity }, index) => ({
        atR,
        price,
        quantity,
        isDone: index < partsDone,
      })),
      breakEven: breakEven && { ...breakEven, isDone: isBreakEvenDone },
      trail,
      until,
      problem,
      ended: null,
    },
  };
}

/** What each account holds, at most `youngestMs` old or, with many accounts, older. */
export function readAccounts(
  { clock, log }: Pick<Deps, 'clock' | 'log'>,
  reader: AccountReader,
  { accounts, youngestMs = YOUNGEST_MS }: { accounts: readonly Account[]; youngestMs?: number },
): Promise<{ open: OpenPositionView[]; unreachable: Unreachable | null }[]> {
  const maxAgeMs = Math.max(youngestMs, accounts.length * MS_AN_ACCOUNT);
  const late = clock.sleep(ACCOUNT_LIMIT_MS).then(() => null);
  // The reader asks a few accounts at a time, in this order.
  return Promise.all(accounts.map((account) => readAccount(reader, { account, log, maxAgeMs, late })));
}

/** One page of closed positions as recorded, for exports. */
export async function listRecordedClosings(
  { db }: Pick<Deps, 'db'>,
  { userId, token, page, limit, until }: ClosedPositionsQuery,
): Promise<ClosedPositionsAnswer> {
  const filter = { userId, token };
  const [closed, sums] = await Promise.all([
    listClosedPositions(db, {
      ...filter,
      limit,
      offset: (page - 1) * limit,
      until,
    }),
    sumClosedPositions(db, filter),
  ]);
  return { closed: closed.map(toView), total: sums.all.count };
}

async function readAccount(
  reader: AccountReader,
  {
    account,
    log,
    maxAgeMs,
    late,
  }: { account: Account; log: Deps['log']; maxAgeMs: number; late: Promise<null> },
): Promise<{ open: OpenPositionView[]; unreachable: Unreachable | null }> {
  const { userId, username, exchangePlatform } = account;
  const missing = (message: string, hidden: HiddenPosition[] = []): Unreachable => ({
    userId,
    username,
    message,
    // The position maker still works on trades that are not done.
    hidden: hidden.filter(({ trade }) => trade.state === 'done').map(toHidden),
  });
  try {
    const reading = await Promise.race([reader.read(account, maxAgeMs), late]);
    if (reading === null) {
      const message = `${exchangePlatform} has not answered within ${ACCOUNT_LIMIT_MS / 1_000} s`;
      return { open: [], unreachable: missing(message) };
    }
    const { hidden } = reading;
    const open = reading.outcome === 'read' ? reading.open : [];
    const unreadable = reading.outcome === 'read' ? reading.unreadable : [];
    const problems = [
      ...(hidden.length === 0 ? [] : [describeHidden(hidden)]),
      ...unreadable.map(({ problem }) => `${exchangePlatform}: ${problem}`),
    ];
    return {
      open: open.map((position) => ({ ...position, username })),
      unreachable: problems.length === 0 ? null : missing(problems.join('; '), hidden),
    };
  } catch (error) {
    if (error instanceof ExchangeError) return { open: [], unreachable: missing(error.message) };
    log.error({ err: error, userId, exchangePlatform }, 'an account could not be read');
    const message = `${exchangePlatform}: the account could not be read, see the server log`;
    return { open: [], unreachable: missing(message) };
  }
}

const toHidden = ({ trade }: HiddenPosition): Unreachable['hidden'][number] => ({
  tradeId: trade.id,
  exchangePlatform: trade.exchangePlatform,
  token: trade.token,
  side: sideOpenedBy(trade.side),
  quantity: trade.filledQuantity,
});

/** The response schema drops the columns that screens do not show. */
const toView = ({
  closed,
  isWrittenOff,
  ...more
}: Awaited<ReturnType<typeof listClosedPositions>>[number]): ClosedPositionView => ({
  ...isoDates(closed),
  ...more,
  differences: closed.exchangePositionId !== null ? [] : [isWrittenOff ? WRITTEN_OFF : GONE_WITHOUT_NEWS],
});

/** Sums in USDT: in total, by user and by token, sorted by name. */
function addTotals({
  open,
  closed,
}: {
  open: OpenPositionView[];
  closed: ClosedSums;
}): Pick<PositionsAnswer, 'totals' | 'perUser' | 'perToken'> {
  const usernames = new Map([...open, ...closed.users].map(({ userId, username }) => [userId, username]));
  const openOfUser = Map.groupBy(open, ({ userId }) => userId);
  const closedOfUser = new Map(closed.users.map((user) => [user.userId, user]));
  const tokens = new Set([...open, ...closed.tokens].map(({ token }) => token));
  const openOfToken = Map.groupBy(open, ({ token }) => token);
  const closedOfToken = new Map(closed.tokens.map((one) => [one.token, one]));
  return {
    totals: toTotals(open, closed.all),
    perUser: [...usernames]
      .map(([userId, username]) => ({
        userId,
        username,
        ...toTotals(openOfUser.get(userId), closedOfUser.get(userId)),
      }))
      .sort((a, b) => a.username.localeCompare(b.username)),
    perToken: [...tokens]
      .map((token) => ({ token, ...toTotals(openOfToken.get(token), closedOfToken.get(token)) }))
      .sort((a, b) => a.token.localeCompare(b.token)),
  };
}

const toTotals = (
  open: OpenPositionView[] = [],
  closed?: Pick<ClosedSums['all'], 'realisedProfit' | 'fees'>,
) => ({
  openCount: open.length,
  unrealisedProfit: sum(open.map(({ unrealisedProfit }) => unrealisedProfit)),
  margin: sum(open.map(({ margin }) => margin)),
  realisedProfit: toPlain(closed?.realisedProfit ?? '0'),
  fees: toPlain(closed?.fees ?? '0'),
});

const sum = (amounts: string[]): string =>
  toPlain(amounts.reduce((total, amount) => total.plus(amount), D(0)));
