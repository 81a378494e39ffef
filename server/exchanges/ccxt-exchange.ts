import { createHash } from 'node:crypto';
import { prepareAccount } from './ccxt-account.ts';
import { createCcxtConnection, readAnswer, requireClassic } from './ccxt-connection.ts';
import type { CcxtClient, CcxtDialect } from './ccxt-dialect.ts';
import { describeOrder, type PlacedOrder, type PlacementRequest, placeOrder } from './ccxt-placement.ts';
import { createCcxtPositions } from './ccxt-positions.ts';
import {
  type EntryOrder,
  type Exchange,
  ExchangeError,
  type Placement,
  type ProtectionRequest,
  type Ticker,
} from './exchange.ts';
import { createTickerCache } from './ticker-cache.ts';

/*
 * The port over the client library.
 * 1. A placement is sent once, and its outcome is what the exchange is known to have done, or `unknown`.
 * 2. Numbers cross as strings; what the library would still round is refused, not sent.
 * 3. Results are read from the exchange's own JSON, where numbers are exact.
 */

export interface Freshness {
  /** How long one price serves all callers. */
  tickerMaxAgeMs: number;
  /** How often at most a token that is not listed makes the list of contracts be read again. */
  missingTokenRefreshMs: number;
}

export interface CcxtExchangeOptions {
  dialect: CcxtDialect;
  apiEndpoint: string;
  createClient: () => Promise<CcxtClient>;
  now: () => Date;
  freshness: Freshness;
}

/** The library names an order by id; by client order id it wants none. */
const BY_CLIENT_ORDER_ID = undefined as unknown as string;

const NO_SPOT = { spotBalance: null, spotAvailable: null, spotLocked: null };

export function createCcxtExchange(options: CcxtExchangeOptions): Exchange {
  const { dialect, apiEndpoint, now } = options;
  const { platform } = dialect;
  const connection = createCcxtConnection({
    ...options,
    missingTokenRefreshMs: options.freshness.missingTokenRefreshMs,
  });
  const tickers = createTickerCache<Ticker>({ now, maxAgeMs: options.freshness.tickerMaxAgeMs });
  const place = (request: PlacementRequest, order: PlacedOrder) =>
    placeOrder({ connection, dialect, request, order });

  const exchange: Exchange = {
    platform,
    apiEndpoint,

    async fetchTicker(token, context) {
      const found = await connection.listed(token);
      if (!found) return null;
      return tickers.get(`${token} ${context?.viewerUserId ?? ''}`, () =>
        connection.call({ type: 'ticker', context }, async (client) => {
          const { info } = await client.fetchTicker(found.symbol);
          const ticker = readAnswer(() => dialect.tickerOf(info, token));
          if (ticker) return ticker;
          throw new ExchangeError('retry-later', `${platform} has no price of ${token} yet`);
        }),
      );
    },

    async fetchContract(token) {
      return (await connection.listed(token))?.contract ?? null;
    },

    async fetchBalance(account, context) {
      requireClassic(account);
      await connection.ready();
      const futures = await connection.call({ type: 'balance', account, context }, async (client) => {
        const { info } = await client.fetchBalance(dialect.balanceParameters);
        const balance = readAnswer(() => dialect.balanceOf(info));
        if (balance) return balance;
        throw new ExchangeError('unknown', `${platform} answered no USDT balance`);
      });
      if (!context?.includeSpot) return { ...futures, ...NO_SPOT };
      const spot = connection.call({ type: 'spot-balance', account, context }, async (client) => {
        const { info } = await client.fetchBalance(dialect.spotBalanceParameters);
        return readAnswer(() => dialect.spotBalanceOf(info));
      });
      // They are shown only: without them the futures figures are still right.
      return { ...futures, ...(await spot.catch(() => NO_SPOT)) };
    },

    prepareAccount: (account, preparation, context) =>
      prepareAccount({ connection, dialect, account, preparation, context }),

    placeOrder: (account, order, context) =>
      place({ type: 'place-order', account, context }, entryOf(dialect, order)),

    describeOrder: (order) => describeOrder({ connection, order: entryOf(dialect, order) }),

    closePosition: (account, { token, side, quantity, clientOrderId }, context) =>
      place(
        { type: 'close-position', account, context },
        {
          token,
          clientOrderId,
          type: 'market',
          side: side === 'long' ? 'sell' : 'buy',
          quantity,
          prices: {},
          parameters: dialect.closeParameters(clientOrderId),
        },
      ),

    async findOrder(account, { token, clientOrderId }, context) {
      const request = { type: 'find-order', account, context };
      const reference = dialect.referenceParameters(clientOrderId);
      try {
        return await connection.callForToken(request, token, async (client, symbol) => {
          const { info } = await client.fetchOrder(BY_CLIENT_ORDER_ID, symbol, reference);
          const order = readAnswer(() => dialect.orderOf(info, token));
          if (order.clientOrderId === clientOrderId) return order;
          throw new ExchangeError('unknown', `${platform} answered another order than ${clientOrderId}`);
        });
      } catch (error) {
        if (hasCode(error, dialect.codes.orderUnknown)) return null;
        throw error;
      }
    },

    async cancelOrder(account, { token, clientOrderId }, context) {
      const request = { type: 'cancel-order', account, context };
      const reference = dialect.referenceParameters(clientOrderId);
      try {
        await connection.callForToken(request, token, (client, symbol) =>
          client.cancelOrder(BY_CLIENT_ORDER_ID, symbol, reference),
        );
        return { outcome: 'accepted' };
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        const isGone = hasCode(error, dialect.codes.notCancellable);
        return { outcome: isGone ? 'not-found' : 'unknown', message: error.message };
      }
    },

    fetchOpenOrders: (account, token, context) =>
      connection.callForToken({ type: 'open-orders', account, context }, token, async (client, symbol) => {
        const orders = await client.fetchOpenOrders(symbol);
        const infos = orders.map(({ info }) => info as unknown);
        return readAnswer(() => infos.filter(dialect.isEntry).map((info) => dialect.orderOf(info, token)));
      }),

    async fetchPositions(account, context) {
      requireClassic(account);
      await connection.ready();
      const positions = await connection.call({ type: 'positions', account, context }, async (client) => {
        const all = await client.fetchPositions(undefined, dialect.positionParameters);
        return readAnswer(() => all.map(({ info }) => dialect.positionOf(info)));
      });
      return positions.filter((position) => position !== null);
    },

    async fetchPosition(account, token, context) {
      const positions = await exchange.fetchPositions(account, context);
      const [position, ...more] = positions.filter((candidate) => candidate.token === token);
      if (more.length === 0) return position ?? null;
      throw new ExchangeError('refused', `${token} has a long and a short position: one-way mode is needed`);
    },

    async fetchProtection(account, token, context) {
      const position = await exchange.fetchPosition(account, token, context);
      if (!position) return { stopLoss: null, takeProfit: null };
      const request = { type: 'protection', account, context };
      const parameters = dialect.protectionListParameters;
      return connection.callForToken(request, token, async (client, symbol) => {
        const plans = await client.fetchOpenOrders(symbol, undefined, undefined, parameters);
        const infos = plans.map(({ info }) => info as unknown);
        return readAnswer(() => dialect.protectionOf(infos, position));
      });
    },

    ...createCcxtPositions({
      connection,
      dialect,
      now,
      fetchPositions: (...call) => exchange.fetchPositions(...call),
    }),

    async placeProtection(account, request, context) {
      // The stop first: it is the side that must never be missing.
      for (const { callType, order } of protectionOrders(dialect, request)) {
        throwUnlessPlaced(await place({ type: callType, account, context }, order));
      }
    },
  };
  return exchange;
}

const entryOf = (dialect: CcxtDialect, order: EntryOrder): PlacedOrder => ({
  token: order.token,
  clientOrderId: order.clientOrderId,
  type: 'limit',
  side: order.side,
  quantity: order.quantity,
  prices: { price: order.price, stopLoss: order.stopLoss, takeProfit: order.takeProfit },
  parameters: dialect.entryParameters(order),
});

function protectionOrders(dialect: CcxtDialect, request: ProtectionRequest) {
  const { token, quantity } = request;
  const sides = [
    { kind: 'stopLoss', type: 'place-stop-loss', clientOrderId: request.clientOrderId },
    { kind: 'takeProfit', type: 'place-take-profit', clientOrderId: twinId(request.clientOrderId) },
  ] as const;
  return sides.flatMap(({ kind, type: callType, clientOrderId }) => {
    const triggerPrice = request[kind];
    if (triggerPrice === null) return [];
    const order = {
      token,
      clientOrderId,
      type: 'market' as const,
      side: request.side === 'long' ? ('sell' as const) : ('buy' as const),
      quantity,
      prices: { triggerPrice },
      parameters: dialect.protectionParameters(kind, { triggerPrice, clientOrderId }),
    };
    return [{ callType, order }];
  });
}

function throwUnlessPlaced(placement: Placement): void {
  switch (placement.outcome) {
    case 'placed':
    case 'duplicate':
      return;
    case 'refused':
      throw new ExchangeError('refused', placement.message, { code: placement.code });
    case 'retry-later':
    case 'unknown':
      throw new ExchangeError(placement.outcome, placement.message);
  }
}

const hasCode = (error: unknown, codes: ReadonlySet<string>) =>
  error instanceof ExchangeError && error.code !== null && codes.has(error.code);

/** Stop and target are two orders, so they need two ids; the second follows from the first. */
const twinId = (clientOrderId: string) =>
  `t${createHash('sha256').update(clientOrderId).digest('hex').slice(0, 31)}`;
