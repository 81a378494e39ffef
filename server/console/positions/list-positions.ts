import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ClosedPositionView,
  OpenPositionView,
  PositionsAnswer,
  PositionsQuery,
} from '#contract/positions.ts';
import { GONE_WITHOUT_NEWS, WRITTEN_OFF } from '#domain/orders/position-differences.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import type { Deps } from '#server/deps.ts';
import {
  type AccountKey,
  listAccounts,
  listClosedPositions,
  sumClosedPositions,
  sumProfitOverTime,
} from '#server/engine/protection/positions.store.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { describeHidden, type HiddenPosition } from '#server/engine/protection/trades-of-account.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { addTotals } from './add-totals.ts';

const YOUNGEST_MS = 2_000;
/** With many accounts a reading serves for longer: 25 accounts a second stay below what an address may ask. */
const MS_AN_ACCOUNT = 40;
/** A screen does not wait longer for one account; its reading goes on and serves the next call. */
const ACCOUNT_LIMIT_MS = 5_000;
const MOST_POINTS = 1_000;

type Account = AccountKey & { username: string };
type Unreachable = PositionsAnswer['unreachable'][number];

/** Open positions as the exchanges report them now, and the closed ones as recorded, with their sums. */
export async function listPositions(
  deps: Pick<Deps, 'db' | 'clock'>,
  reader: AccountReader,
  query: PositionsQuery,
): Promise<PositionsAnswer> {
  const { userId, token, limit } = query;
  const accounts = await listAccounts(deps.db, { userId });
  const maxAgeMs = Math.max(YOUNGEST_MS, accounts.length * MS_AN_ACCOUNT);
  const late = sleep(ACCOUNT_LIMIT_MS, null, { ref: false });
  // The reader asks for a few accounts at a time, in this order.
  const readings = await Promise.all(
    accounts.map((account) => readAccount(reader, { account, maxAgeMs, late })),
  );
  const open = readings
    .flatMap((reading) => reading.open)
    .filter((position) => token === undefined || position.token === token);
  // After the exchanges were asked: what they told to be closed is among them.
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
    // What is still worked on is the position maker's.
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
