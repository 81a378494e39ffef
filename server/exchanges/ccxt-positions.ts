import { type CcxtConnection, readAnswer, requireClassic } from './ccxt-connection.ts';
import type { CcxtDialect } from './ccxt-dialect.ts';
import type { ClosedPosition, Exchange } from './exchange.ts';

/** Ten full pages of history in one go are enough; what is older is asked for by the next call. */
const MOST_PAGES = 10;
/** An order is stamped a moment before or after the position that it closed. */
const ORDER_SLACK_MS = 60_000;

type PositionReads = Pick<
  Exchange,
  'fetchHoldings' | 'fetchClosedPositions' | 'findClosingOrder' | 'cancelProtection'
>;

/** What an account holds and has held: the part of the port that watches positions, open and closed. */
export function createCcxtPositions(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  now: () => Date;
  fetchPositions: Exchange['fetchPositions'];
}): PositionReads {
  const { connection, dialect, now, fetchPositions } = options;

  return {
    async fetchHoldings(account, context) {
      const positions = await fetchPositions(account, context);
      if (positions.length === 0) return [];
      const request = { type: 'protection', account, context };
      const infos = await connection.call(request, async (client) => {
        const plans = await client.fetchOpenOrders(undefined, undefined, undefined, {
          ...dialect.positionParameters,
          ...dialect.protectionListParameters,
        });
        return plans.map(({ info }) => info as unknown);
      });
      return readAnswer(() =>
        positions.map((position) => ({ position, protection: dialect.protectionOf(infos, position) })),
      );
    },

    async fetchClosedPositions(account, { since }, context) {
      requireClassic(account);
      await connection.ready();
      const { pageSize, maxAgeMs, read: readPage } = dialect.positionHistory;
      const from = new Date(Math.max(since.getTime(), now().getTime() - maxAgeMs));
      const found = new Map<string, ClosedPosition>();
      let before: string | null = null;
      for (let page = 0; page < MOST_PAGES; page += 1) {
        const asked = { since: from, before };
        const read = await connection.call({ type: 'closed-positions', account, context }, async (client) => {
          const infos = await readPage(client, asked);
          return readAnswer(() => infos.map(dialect.closedPositionOf));
        });
        const known = found.size;
        const positions = read.filter((position) => position !== null);
        for (const position of positions) found.set(position.positionId, position);
        before = positions.at(-1)?.positionId ?? null;
        // A page that brings nothing new would be answered for ever.
        if (read.length < pageSize || before === null || found.size === known) break;
      }
      return [...found.values()].sort((a, b) => b.closedAt.getTime() - a.closedAt.getTime());
    },

    async findClosingOrder(account, position, context) {
      const request = { type: 'closed-orders', account, context };
      const around = (at: Date, ms: number) => new Date(at.getTime() + ms);
      const asked = dialect.orderHistory.parameters({
        from: around(position.openedAt, -ORDER_SLACK_MS),
        to: around(position.closedAt, ORDER_SLACK_MS),
      });
      return connection.callForToken(request, position.token, async (client, symbol) => {
        const orders = await client.fetchCanceledAndClosedOrders(symbol, undefined, undefined, asked);
        const infos = orders.map(({ info }) => info as unknown);
        return readAnswer(() => dialect.closingOrderOf(infos, position));
      });
    },

    async cancelProtection(account, token, context) {
      const list = { type: 'protection', account, context };
      const ids = await connection.callForToken(list, token, async (client, symbol) => {
        const plans = await client.fetchOpenOrders(
          symbol,
          undefined,
          undefined,
          dialect.protectionListParameters,
        );
        return readAnswer(() => plans.map(({ info }) => dialect.orderIdOf(info)));
      });
      for (const id of ids) {
        await connection.callForToken(
          { type: 'cancel-protection', account, context },
          token,
          (client, symbol) => client.cancelOrder(id, symbol, dialect.protectionCancelParameters),
        );
      }
      return ids.length;
    },
  };
}
