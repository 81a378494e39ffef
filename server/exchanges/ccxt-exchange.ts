import { createHash } from 'node:crypto';
import { D, isPositive } from '#domain/decimal.ts';
import { type CallScope, callScope } from './call-scope.ts';
import type { CcxtClient, CcxtDialect, Market } from './ccxt-dialect.ts';
import { exchangeErrorOf, judge, placementOf } from './ccxt-errors.ts';
import {
  type CallContext,
  type Contract,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type OpenPosition,
  type Placement,
  type PlacementContext,
  type Ticker,
} from './exchange.ts';
import { createMarketCache } from './market-cache.ts';
import { createTickerCache } from './ticker-cache.ts';

/*
 * The port over the client library.
 * 1. A placement is sent once, and its outcome is what the exchange is known to have done, or `unknown`.
 * 2. Numbers cross as strings; what the library would still round is refused, not sent.
 * 3. Results are read from the exchange's own JSON, where numbers are exact.
 */

export interface CcxtExchangeOptions {
  dialect: CcxtDialect;
  apiEndpoint: string;
  createClient: () => Promise<CcxtClient>;
  now: () => Date;
  missingTokenRefreshMs?: number;
}

interface CallRequest {
  type: string;
  account?: ExchangeAccount;
  context?: CallContext | PlacementContext | undefined;
}

const CLIENT_ORDER_ID = /^[0-9A-Za-z_-]{1,32}$/;

export function createCcxtExchange(options: CcxtExchangeOptions): Exchange {
  const { dialect, apiEndpoint, now } = options;
  let creating: Promise<CcxtClient> | null = null;
  const client = () => {
    creating ??= options.createClient().catch((error: unknown) => {
      creating = null;
      throw error;
    });
    return creating;
  };

  async function inScope<T>(request: CallRequest, work: (client: CcxtClient) => Promise<T>): Promise<T> {
    const scope = openScope(request);
    try {
      const ready = await client();
      return await callScope.run(scope, () => work(ready));
    } catch (error) {
      const judgement = judge(error, scope, dialect);
      if (judgement.code !== null && dialect.codes.clock.has(judgement.code)) await synchroniseClock();
      throw error instanceof ExchangeError ? error : exchangeErrorOf(judgement, error);
    }
  }

  /** The exchange found our time wrong: ask for its own, and go by that from now on. */
  async function synchroniseClock(): Promise<void> {
    const ready = await client();
    await callScope.run(openScope({ type: 'time' }), () => ready.loadTimeDifference()).catch(() => undefined);
  }

  const markets = createMarketCache({
    now,
    ...(options.missingTokenRefreshMs === undefined
      ? {}
      : { missingRefreshMs: options.missingTokenRefreshMs }),
    load: () =>
      inScope({ type: 'contracts' }, async (ready) => {
        await ready.loadMarkets(true);
        return ready;
      }),
  });

  const tickers = createTickerCache<Ticker>(now);

  async function listed(token: string): Promise<{ market: Market; contract: Contract } | null> {
    const market = await markets.marketOf(token);
    const contract = market ? read(() => dialect.contractOf(market, token)) : null;
    return market && contract ? { market, contract } : null;
  }

  async function symbolOf(token: string): Promise<string> {
    const symbol = (await listed(token))?.market?.symbol;
    if (!symbol) throw new ExchangeError('refused', `${token} is not listed on ${dialect.platform}`);
    return symbol;
  }

  /** A private call about one token. */
  async function forToken<T>(
    request: CallRequest & { account: ExchangeAccount },
    token: string,
    work: (client: CcxtClient, symbol: string) => Promise<T>,
  ): Promise<T> {
    requireClassic(request.account);
    const symbol = await symbolOf(token);
    return inScope(request, (ready) => work(ready, symbol));
  }

  async function place(
    request: CallRequest & { account: ExchangeAccount; context: PlacementContext },
    order: PlacedOrder,
  ): Promise<Placement> {
    const scope = openScope(request);
    try {
      requireClassic(request.account);
      requireClientOrderId(order.clientOrderId);
      const [ready, symbol] = [await client(), await symbolOf(order.token)];
      requireExact(ready, symbol, order);
      const placed = await callScope.run(scope, () => sendOrder(ready, symbol, order));
      const unexpected = placed.clientOrderId !== undefined && placed.clientOrderId !== order.clientOrderId;
      if (!placed.id || unexpected) {
        const message = `${dialect.platform} answered without the id of the order`;
        return { outcome: 'unknown', message };
      }
      return { outcome: 'placed', orderId: placed.id };
    } catch (error) {
      const judgement = judge(error, scope, dialect);
      if (judgement.code !== null && dialect.codes.clock.has(judgement.code)) await synchroniseClock();
      // What failed before the order itself was sent cannot have placed it, however unclear that failure was.
      if (!scope.sent && judgement.what === 'unknown') {
        return { outcome: 'retry-later', message: judgement.message, retryAfterMs: 1_000 };
      }
      return placementOf(judgement);
    }
  }

  async function positionsOf(account: ExchangeAccount, context?: CallContext): Promise<OpenPosition[]> {
    requireClassic(account);
    await markets.ready();
    const positions = await inScope({ type: 'positions', account, context }, async (ready) => {
      const all = await ready.fetchPositions(undefined, dialect.positionParameters);
      return read(() => all.map((position) => dialect.positionOf(position.info)));
    });
    return positions.filter((position) => position !== null);
  }

  const exchange: Exchange = {
    platform: dialect.platform,
    apiEndpoint,

    async fetchTicker(token, context) {
      const symbol = (await listed(token))?.market?.symbol;
      if (!symbol) return null;
      return tickers.get(`${token} ${context?.viewerUserId ?? ''}`, () =>
        inScope({ type: 'ticker', context }, async (ready) => {
          const { info } = await ready.fetchTicker(symbol);
          const ticker = read(() => dialect.tickerOf(info, token));
          if (!ticker)
            throw new ExchangeError('retry-later', `${dialect.platform} has no price of ${token} yet`);
          return ticker;
        }),
      );
    },

    async fetchContract(token) {
      return (await listed(token))?.contract ?? null;
    },

    async fetchBalance(account, context) {
      requireClassic(account);
      await markets.ready();
      const futures = await inScope({ type: 'balance', account, context }, async (ready) => {
        const { info } = await ready.fetchBalance(dialect.balanceParameters);
        const balance = read(() => dialect.balanceOf(info));
        if (!balance) throw new ExchangeError('unknown', `${dialect.platform} answered no USDT balance`);
        return balance;
      });
      const none = { spotBalance: null, spotAvailable: null, spotLocked: null };
      if (!context?.includeSpot) return { ...futures, ...none };
      const spot = await inScope({ type: 'spot-balance', account, context }, async (ready) => {
        const { info } = await ready.fetchBalance({ type: 'spot' });
        return read(() => dialect.spotBalanceOf(info));
      }).catch(() => none);
      return { ...futures, ...spot };
    },

    async prepareAccount(account, { token, leverage }, context) {
      const state = (type: string) =>
        forToken({ type, account, context }, token, async (ready, symbol) => {
          const { info } = await ready.fetchLeverage(symbol);
          return read(() => dialect.accountStateOf(info));
        });
      const set = (type: string, work: (ready: CcxtClient, symbol: string) => Promise<unknown>) =>
        forToken({ type, account, context }, token, work);

      // Only what differs is set: an exchange refuses even a repetition while a position is open.
      const before = await state('account');
      const isReady = ({ positionMode, marginMode, leverage: present }: typeof before) =>
        positionMode === dialect.oneWayMode && marginMode === dialect.isolatedMode && present === leverage;
      if (isReady(before)) return;
      if (before.positionMode !== dialect.oneWayMode) {
        await set('set-position-mode', (ready, symbol) => ready.setPositionMode(false, symbol));
      }
      if (before.marginMode !== dialect.isolatedMode) {
        await set('set-margin-mode', (ready, symbol) => ready.setMarginMode('isolated', symbol));
      }
      const between = before.marginMode === dialect.isolatedMode ? before : await state('account');
      if (between.leverage !== leverage) {
        await set('set-leverage', (ready, symbol) => ready.setLeverage(leverage, symbol));
      }
      const after = await state('account');
      if (isReady(after)) return;
      throw new ExchangeError(
        'refused',
        `${dialect.platform} reads back ${after.positionMode}, ${after.marginMode}, leverage ${after.leverage}` +
          ` instead of ${dialect.oneWayMode}, ${dialect.isolatedMode}, leverage ${leverage}`,
      );
    },

    placeOrder: (account, order, context) =>
      place(
        { type: 'place-order', account, context },
        {
          token: order.token,
          clientOrderId: order.clientOrderId,
          type: 'limit',
          side: order.side,
          quantity: order.quantity,
          prices: { price: order.price, stopLoss: order.stopLoss, takeProfit: order.takeProfit },
          parameters: dialect.entryParameters(order),
        },
      ),

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
      try {
        return await forToken({ type: 'find-order', account, context }, token, async (ready, symbol) => {
          const found = await ready.fetchOrder(
            undefined as unknown as string,
            symbol,
            dialect.referenceParameters(clientOrderId),
          );
          const order = read(() => dialect.orderOf(found.info, token));
          if (order.clientOrderId !== clientOrderId) {
            throw new ExchangeError(
              'unknown',
              `${dialect.platform} answered another order than ${clientOrderId}`,
            );
          }
          return order;
        });
      } catch (error) {
        if (hasCode(error, dialect.codes.orderUnknown)) return null;
        throw error;
      }
    },

    async cancelOrder(account, { token, clientOrderId }, context) {
      try {
        await forToken({ type: 'cancel-order', account, context }, token, (ready, symbol) =>
          ready.cancelOrder(
            undefined as unknown as string,
            symbol,
            dialect.referenceParameters(clientOrderId),
          ),
        );
        return { outcome: 'accepted' };
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        const isGone = hasCode(error, dialect.codes.notCancellable);
        return { outcome: isGone ? 'not-found' : 'unknown', message: error.message };
      }
    },

    fetchOpenOrders: (account, token, context) =>
      forToken({ type: 'open-orders', account, context }, token, async (ready, symbol) => {
        const orders = await ready.fetchOpenOrders(symbol);
        const infos = orders.map(({ info }) => info as unknown);
        return read(() => infos.filter(dialect.isEntry).map((info) => dialect.orderOf(info, token)));
      }),

    fetchPositions: positionsOf,

    async fetchPosition(account, token, context) {
      const positions = (await positionsOf(account, context)).filter((position) => position.token === token);
      if (positions.length > 1) {
        throw new ExchangeError(
          'refused',
          `${token} has a long and a short position: one-way mode is needed`,
        );
      }
      return positions[0] ?? null;
    },

    async fetchProtection(account, token, context) {
      const position = await exchange.fetchPosition(account, token, context);
      if (!position) return { stopLoss: null, takeProfit: null };
      return forToken({ type: 'protection', account, context }, token, async (ready, symbol) => {
        const plans = await ready.fetchOpenOrders(
          symbol,
          undefined,
          undefined,
          dialect.protectionListParameters,
        );
        return read(() =>
          dialect.protectionOf(
            plans.map(({ info }) => info),
            position,
          ),
        );
      });
    },

    async placeProtection(account, request, context) {
      requireClientOrderId(request.clientOrderId);
      // The stop first: it is the side that must never be missing.
      for (const side of ['stopLoss', 'takeProfit'] as const) {
        const triggerPrice = request[side];
        if (triggerPrice === null) continue;
        const clientOrderId = side === 'stopLoss' ? request.clientOrderId : twinId(request.clientOrderId);
        const closingSide = request.side === 'long' ? 'sell' : 'buy';
        const parameters = dialect.protectionParameters(side, { ...request, triggerPrice, clientOrderId });
        const placement = await place(
          { type: side === 'stopLoss' ? 'place-stop-loss' : 'place-take-profit', account, context },
          {
            token: request.token,
            clientOrderId,
            type: 'market',
            side: closingSide,
            quantity: request.quantity,
            prices: { triggerPrice },
            parameters,
          },
        );
        throwUnlessPlaced(placement);
      }
    },
  };
  return exchange;
}

interface PlacedOrder {
  token: string;
  clientOrderId: string;
  type: 'limit' | 'market';
  side: 'buy' | 'sell';
  quantity: string;
  prices: { price?: string; stopLoss?: string; takeProfit?: string; triggerPrice?: string };
  parameters: Record<string, unknown>;
}

/** The one place where the library is told that our decimal strings are numbers: it formats them unchanged. */
function sendOrder(client: CcxtClient, symbol: string, order: PlacedOrder) {
  const asNumber = (text: string) => text as unknown as number;
  const price = order.prices.price === undefined ? undefined : asNumber(order.prices.price);
  const { type, side, quantity, parameters } = order;
  return client.createOrder(symbol, type, side, asNumber(quantity), price, parameters);
}

/** The sizing has rounded already, in the right direction; the library would round again, in any. */
function requireExact(client: CcxtClient, symbol: string, order: PlacedOrder): void {
  const refuse = (name: string, value: string) => {
    throw new ExchangeError('refused', `${name} ${value} does not fit the contract's steps`, {
      code: 'not-sent',
    });
  };
  const { quantity, prices } = order;
  if (!isPositive(quantity) || !D(quantity).eq(client.amountToPrecision(symbol, quantity) ?? 0)) {
    refuse('quantity', quantity);
  }
  for (const [name, value] of Object.entries(prices)) {
    if (!isPositive(value) || !D(value).eq(client.priceToPrecision(symbol, value) ?? 0)) refuse(name, value);
  }
}

function requireClientOrderId(clientOrderId: string): void {
  if (CLIENT_ORDER_ID.test(clientOrderId)) return;
  const message = `A client order id is 1 to 32 of 0-9 A-Z a-z _ -, not ${JSON.stringify(clientOrderId)}`;
  throw new ExchangeError('refused', message, { code: 'not-sent' });
}

function requireClassic(account: ExchangeAccount): void {
  if (account.credentials.accountMode === 'classic') return;
  throw new ExchangeError(
    'credentials',
    'Unified accounts are not supported: the API key must belong to a classic account',
  );
}

function openScope({ type, account, context }: CallRequest): CallScope {
  return {
    type,
    account: account ?? null,
    notAfter: context && 'notAfter' in context ? context.notAfter : null,
    onCall: context?.onCall ?? null,
    viewerUserId: context?.viewerUserId ?? null,
    sent: false,
    answer: null,
  };
}

/** An answer that cannot be read says nothing. */
function read<T>(reader: () => T): T {
  try {
    return reader();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new ExchangeError('unknown', message, { cause: error });
  }
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
