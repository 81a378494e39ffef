import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ClosedPositionView,
  OpenPositionView,
  PositionsAnswer,
  PositionsQuery,
} from '#contract/positions.ts';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import { GONE_WITHOUT_NEWS, WRITTEN_OFF } from '#domain/orders/position-differences.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps } from '#server/deps.ts';
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

const YOUNGEST_MS = 2_000;
/** With more accounts, readings are reused for longer: 25 accounts a second stay within the exchange's limit per address. */
const MS_AN_ACCOUNT = 40;
/** How long a screen waits for one account; the reading continues and serves the next call. */
const ACCOUNT_LIMIT_MS = 5_000;
const MOST_POINTS = 1_000;

type Account = AccountKey & { username: string };
type Unreachable = PositionsAnswer['unreachable'][number];

/** Open positions as the exchanges report them now, closed positions as recorded, and sums of both. */
export async function listPositions(
  deps: Pick<Deps, 'db' | 'clock'>,
  reader: AccountReader,
  query: PositionsQuery,
): Promise<PositionsAnswer> {
  const { userId, token, limit } = query;
  const accounts = await listAccounts(deps.db, { userId });
  const maxAgeMs = Math.max(YOUNGEST_MS, accounts.length * MS_AN_ACCOUNT);
  const late = sleep(ACCOUNT_LIMIT_MS, null, { ref: false });
  // The reader asks a few accounts at a time, in this order.
  const readings = await Promise.all(
    accounts.map((account) => readAccount(reader, { account, maxAgeMs, late })),
  );
  const open = readings
    .flatMap((reading) => reading.open)
    .filter((position) => token === undefined || position.token === token);
  // Read closed positions last: the exchanges' answers may record more of them.
  const [closed, sums, profit] = await Promise.all([
    listClosedPositions(deps.db, { userId, token, limit }),
    sumClosedPositions(deps.db, { userId, token }),
    sumProfitOverTime(deps.db, { userId, token, points: MOST_POINTS }),
  ]);
  return {
    open,
    closed: closed.map(toView),
    closedCount: sums.all.count,
    ...addTotals({ open, closed: sums }),
    cumulativeProfit: profit.map((point) => ({ at: point.at.toISOString(), profit: point.profit })),
    unreachable: readings.flatMap(({ unreachable }) => (unreachable === null ? [] : [unreachable])),
    at: deps.clock.now().toISOString(),
  };
}

async function readAccount(
  reader: AccountReader,
  { account, maxAgeMs, late }: { account: Account; maxAgeMs: number; late: Promise<null> },
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
    return {
      open: open.map((position) => ({ ...position, username })),
      unreachable: hidden.length === 0 ? null : missing(describeHidden(hidden), hidden),
    };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { open: [], unreachable: missing(error.message) };
  }
}

const toHidden = ({ trade }: HiddenPosition): Unreachable['hidden'][number] => ({
  tradeId: trade.id,
  exchangePlatform: trade.exchangePlatform,
  token: trade.token,
  side: sideOpenedBy(trade.side),
  quantity: trade.filledQuantity,
});

function toView({
  closed,
  username,
  stopLoss,
  takeProfit,
  isWrittenOff,
}: Awaited<ReturnType<typeof listClosedPositions>>[number]): ClosedPositionView {
  const { id: _id, exchangePositionId, recordedAt: _recordedAt, openedAt, closedAt, ...figures } = closed;
  return {
    ...figures,
    username,
    stopLoss,
    takeProfit,
    openedAt: openedAt.toISOString(),
    closedAt: closedAt.toISOString(),
    differences: exchangePositionId !== null ? [] : [isWrittenOff ? WRITTEN_OFF : GONE_WITHOUT_NEWS],
  };
}

interface Sum {
  openCount: number;
  unrealisedProfit: Decimal;
  margin: Decimal;
  realisedProfit: Decimal;
  fees: Decimal;
}

const emptySum = (): Sum => ({
  openCount: 0,
  unrealisedProfit: D(0),
  margin: D(0),
  realisedProfit: D(0),
  fees: D(0),
});

/** Sums in USDT: in total, by user and by token, sorted by name. */
function addTotals({
  open,
  closed,
}: {
  open: OpenPositionView[];
  closed: ClosedSums;
}): Pick<PositionsAnswer, 'totals' | 'perUser' | 'perToken'> {
  const all = emptySum();
  const users = new Map<string, { username: string; sum: Sum }>();
  const tokens = new Map<string, Sum>();

  function sumOfUser({ userId, username }: { userId: string; username: string }): Sum {
    const known = users.get(userId) ?? { username, sum: emptySum() };
    users.set(userId, known);
    return known.sum;
  }

  function sumOfToken(token: string): Sum {
    const sum = tokens.get(token) ?? emptySum();
    tokens.set(token, sum);
    return sum;
  }

  for (const position of open) {
    for (const sum of [all, sumOfUser(position), sumOfToken(position.token)]) {
      sum.openCount += 1;
      sum.unrealisedProfit = sum.unrealisedProfit.plus(position.unrealisedProfit);
      sum.margin = sum.margin.plus(position.margin);
    }
  }
  const noteClosed = (sum: Sum, { realisedProfit, fees }: ClosedSums['all']) =>
    Object.assign(sum, { realisedProfit: D(realisedProfit), fees: D(fees) });
  noteClosed(all, closed.all);
  for (const user of closed.users) noteClosed(sumOfUser(user), user);
  for (const one of closed.tokens) noteClosed(sumOfToken(one.token), one);
  return {
    totals: toTotals(all),
    perUser: [...users]
      .map(([userId, { username, sum }]) => ({ userId, username, ...toTotals(sum) }))
      .sort((a, b) => a.username.localeCompare(b.username)),
    perToken: [...tokens]
      .map(([token, sum]) => ({ token, ...toTotals(sum) }))
      .sort((a, b) => a.token.localeCompare(b.token)),
  };
}

const toTotals = (sum: Sum) => ({
  openCount: sum.openCount,
  unrealisedProfit: toPlain(sum.unrealisedProfit),
  margin: toPlain(sum.margin),
  realisedProfit: toPlain(sum.realisedProfit),
  fees: toPlain(sum.fees),
});
