import { D, isMultipleOf, isPositive } from '#domain/decimal.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Metrics } from '#server/platform/metrics.ts';
import {
  type AccountPreparation,
  asExchangeError,
  type CallContext,
  type EntryOrder,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type Holding,
  NOT_SENT,
  notSent,
  type Placement,
  type PlacementContext,
  requireClientOrderId,
  requireEntrySize,
  type Ticker,
} from '../exchange.ts';
import { createTickerCache } from '../ticker-cache.ts';
import {
  changeLeverage,
  changeMarginMode,
  changeMarginModeOfToken,
  changePositionModeOfToken,
} from './account-settings.ts';
import {
  type BookOwner,
  isPending,
  liveTrigger,
  marginModeOf,
  type PlanType,
  positionModeOf,
  type TokenBook,
} from './book.ts';
import { type PaperBooks, type PaperSession, viewAccount, withAccount } from './paper-books.ts';
import { createPaperCalls, type PaperCall } from './paper-calls.ts';
import { isGeneric, isListed, paperContract, paperTick } from './paper-contracts.ts';
import { cancelPaperOrder, type NewPaperOrder, placePaperOrder, placePaperTrigger } from './paper-orders.ts';
import { listClosedPositions, ordersById } from './paper-queries.ts';
import { accountBalance, closedPosition, openPosition, orderReport, protectionOf } from './paper-views.ts';
import { ENTRY_OF } from './platform-words.ts';
import { BookRefusal } from './refusals.ts';

/*
 * The exchange port on the paper books. Nothing is sent anywhere: a call is one read of the account or one transaction
 * on it.
 */

const ACCOUNT_MODES = { Bitget: 'classic', Bybit: 'unified' } as const;

const DAY_MS = 86_400_000;
const RETRY_AFTER_MS = 1_000;

const SOURCES = {
  normal: 'order',
  pos_loss: 'stop loss',
  pos_profit: 'take profit',
  liquidation: 'liquidation',
} as const;

export function createPaperExchange(options: {
  books: PaperBooks;
  platform: ExchangePlatform;
  /** Receives every call, for the metrics. */
  onCall?: Metrics['exchangeCalled'] | undefined;
  onError: (error: unknown) => void;
}): Exchange {
  const { books, platform, onCall, onError } = options;
  const { clock, db, marks } = books;
  const [accountMode, entry] = [ACCOUNT_MODES[platform], ENTRY_OF[platform]];
  const now = () => clock.now();
  const run = createPaperCalls({ platform, clock, onCall, onError });
  // Concurrent callers share one read of a price.
  const tickers = createTickerCache<Ticker | null>({ now, maxAgeMs: 0 });

  function ownerOf({ userId, environment }: ExchangeAccount): BookOwner {
    if (environment === 'paper') return { userId, platform };
    throw notSent(`${platform}: an account of ${environment} mode is not served in paper mode`);
  }

  function listing<Result>(reading: Promise<Result>): Promise<Result> {
    return reading.catch((error: unknown) => {
      onError(error);
      const message = `${platform}: the list of contracts could not be read`;
      throw new ExchangeError('retry-later', message, { cause: error });
    });
  }

  const isTraded = (token: string): Promise<boolean> => listing(isListed(books, platform, token));

  async function contractOf(token: string) {
    if (await isTraded(token)) return paperContract(token, platform);
    throw notSent(`${token} is not listed on ${platform}`);
  }

  /** Sizing has already rounded in the right direction: refuse values that do not fit instead of rounding again. */
  async function requireExact(token: string, values: Record<string, string>): Promise<void> {
    const { quantityStep } = await contractOf(token);
    const tickSize = paperTick(token, platform);
    for (const [name, value] of Object.entries(values)) {
      const fits = isPositive(value) && isMultipleOf(value, name === 'quantity' ? quantityStep : tickSize);
      if (!fits) throw notSent(`${name} ${value} does not fit the contract's steps`);
    }
  }

  const requireEntry = async (order: EntryOrder) => {
    const { token, quantity, price, stopLoss, takeProfit } = order;
    requireClientOrderId(order.clientOrderId);
    requireEntrySize(order);
    await requireExact(token, { quantity, price, stopLoss, takeProfit });
  };

  const callsBy =
    (method: PaperCall['method'], access: typeof viewAccount) =>
    async <T>(
      account: ExchangeAccount,
      call: Omit<PaperCall, 'method'> & { clientOrderId?: string },
      work: (session: PaperSession) => Promise<T>,
      shown?: (result: T) => unknown,
    ): Promise<T> => {
      const query = { ...ownerOf(account), clientOrderId: call.clientOrderId };
      return run({ ...call, method }, () => access(books, query, work), shown);
    };
  /** Changes nothing except by settling newer prices. */
  const look = callsBy('GET', viewAccount);
  const change = callsBy('POST', withAccount);

  /** Called after the wait for the account's lock. */
  function requireInTime({ notAfter }: PlacementContext): void {
    if (now() <= notAfter) return;
    throw notSent(`${platform}: too late: nothing is sent after ${notAfter.toISOString()}`);
  }

  /** Places an order once and reports the known outcome. Never throws. */
  async function place(
    account: ExchangeAccount,
    order: {
      call: Omit<PaperCall, 'method' | 'context'>;
      context: PlacementContext;
      check: () => Promise<void>;
      request: () => NewPaperOrder;
    },
  ): Promise<Placement> {
    const { call, context, check, request } = order;
    try {
      await check();
      if (context.announce !== undefined && !(await context.announce())) {
        throw notSent(`${platform}: the order was withdrawn before it left`);
      }
      const placed = await change(
        account,
        { ...call, context },
        (session) => {
          requireInTime(context);
          return placePaperOrder(session, request());
        },
        ({ id, clientOrderId }) => ({ orderId: String(id), clientOrderId }),
      );
      return { outcome: 'placed', orderId: String(placed.id) };
    } catch (error) {
      if (!(error instanceof ExchangeError)) {
        onError(error);
        return { outcome: 'unknown', message: `${platform}: ${String(error)}` };
      }
      const { cause, code, kind, message } = error;
      if (kind === 'unknown') return { outcome: 'unknown', message };
      if (kind === 'retry-later') return { outcome: 'retry-later', message, retryAfterMs: RETRY_AFTER_MS };
      const isDuplicate = cause instanceof BookRefusal && cause.reason.kind === 'duplicate-client-order-id';
      return isDuplicate
        ? { outcome: 'duplicate', message }
        : { outcome: 'refused', code: code ?? NOT_SENT, message };
    }
  }

  async function holdingIn(session: PaperSession, book: TokenBook | undefined): Promise<Holding | null> {
    if (!book?.position) return null;
    const position = openPosition(book.token, book.position, await session.markOf(book.token));
    return { position, protection: protectionOf(book) };
  }

  const fetchHolding = (account: ExchangeAccount, token: string, context: CallContext | undefined) =>
    look(account, { type: 'positions', requestData: { token }, context }, (session) =>
      holdingIn(session, session.account.tokens.get(token)),
    );

  const accountState = ({ account, token }: PaperSession, name: string) => ({
    positionMode: positionModeOf(account, token(name)),
    marginMode: marginModeOf(account, token(name)),
    leverage: token(name).leverage,
  });

  const isPrepared = (state: ReturnType<typeof accountState>, leverage: number) =>
    state.positionMode === 'one_way_mode' && state.marginMode === 'isolated' && state.leverage === leverage;

  const setUp = (
    account: ExchangeAccount,
    { token, leverage }: AccountPreparation,
    context: CallContext | undefined,
  ) =>
    change(
      account,
      { type: 'prepare-account', requestData: { token, leverage }, context },
      async (session) => {
        const book = session.token(token);
        changePositionModeOfToken(session, book, 'one_way_mode');
        if (session.account.marginMode === null) changeMarginModeOfToken(book, 'isolated');
        else changeMarginMode(session, 'isolated');
        await changeLeverage(session, book, leverage);
        return accountState(session, token);
      },
    );

  const setProtections: Exchange['placeProtection'] = async (account, request, context) => {
    const { token, clientOrderId, stopLoss, takeProfit } = request;
    // Stop first, in its own request: it must never be missing.
    for (const [type, planType, price] of [
      ['place-stop-loss', 'pos_loss', stopLoss],
      ['place-take-profit', 'pos_profit', takeProfit],
    ] as const) {
      if (price === null) continue;
      await requireExact(token, { [planType === 'pos_loss' ? 'stopLoss' : 'takeProfit']: price });
      const call = { type, requestData: { token, clientOrderId, price }, context };
      await change(account, call, async (session) => {
        requireInTime(context);
        await setProtection(session, { token, planType, price, clientOrderId });
      });
    }
  };

  return {
    platform,
    apiEndpoint: `paper://${platform.toLowerCase()}`,
    accountMode,
    accountModes: [accountMode],
    // The same memory as the real platforms, so that the engine meets the same limits.
    ledgerReach: null,
    orderMemory: { withoutFillsMs: DAY_MS, withFillsMs: 7 * DAY_MS },
    requestsPerSecond: Number.POSITIVE_INFINITY,
    requestsWaiting: () => 0,
    clockAheadMs: () => null,

    fetchTicker(token, context) {
      const userId = context?.viewerUserId ?? null;
      return tickers.get(`${token} ${userId ?? ''}`, async () => {
        if (!(await isTraded(token))) return null;
        return run({ type: 'ticker', method: 'GET', requestData: { token }, context }, async () => {
          const mark = (await marks.newest([token], { userId, db })).get(token);
          if (!mark) throw new ExchangeError('retry-later', `${platform} has no price of ${token} yet`);
          return { token, lastPrice: mark.price, markPrice: mark.price, at: now() };
        });
      });
    },

    fetchMarkPrices(tokens, context) {
      const userId = context?.viewerUserId ?? null;
      return run({ type: 'ticker', method: 'GET', requestData: { tokens }, context }, async () => {
        const newest = await marks.newest(tokens, { userId, db });
        return new Map([...newest].map(([token, { price }]) => [token, price]));
      });
    },

    async fetchContract(token, context) {
      if (!(await isTraded(token))) return null;
      if (!isGeneric(token, platform)) return paperContract(token, platform);
      const userId = context?.viewerUserId ?? null;
      const mark = (await listing(marks.newest([token], { userId, db }))).get(token);
      return paperContract(token, platform, mark?.price ?? null);
    },

    async inspectKey(account) {
      const { userId } = ownerOf(account);
      return { accountMode, mayTrade: true, mayWithdraw: false, accountId: userId };
    },

    fetchBalance: (account, context) =>
      look(account, { type: 'balance', requestData: {}, context }, async (session) =>
        accountBalance(await session.balances()),
      ),

    async readTradeAccount(account, { token, leverage }, context) {
      await contractOf(token);
      const read = await look(
        account,
        { type: 'account', requestData: { token }, context },
        async (session) => ({
          balance: accountBalance(await session.balances()),
          position: (await holdingIn(session, session.account.tokens.get(token)))?.position ?? null,
          state: accountState(session, token),
        }),
      );
      const { balance, position, state } = read;
      if (leverage !== null && position === null && !isPrepared(state, leverage)) {
        await setUp(account, { token, leverage }, context).catch(asExchangeError);
      }
      return { balance, position };
    },

    async prepareAccount(account, { token, leverage }, context) {
      await contractOf(token);
      const call = { type: 'account', requestData: { token }, context };
      const state = await look(account, call, async (session) => accountState(session, token));
      if (!isPrepared(state, leverage)) await setUp(account, { token, leverage }, context);
    },

    placeOrder(account, order, context) {
      const { method: _method, endpoint, payload } = entry(order);
      return place(account, {
        call: { type: 'place-order', endpoint, requestData: payload },
        context,
        check: () => requireEntry(order),
        request: () => ({
          ...orderOf(order),
          side: order.side,
          type: 'limit',
          price: D(order.price),
          reduceOnly: false,
          presetStopLoss: D(order.stopLoss),
          presetTakeProfit: D(order.takeProfit),
        }),
      });
    },

    async describeOrder(order) {
      await requireEntry(order);
      return entry(order);
    },

    closePosition(account, request, context) {
      const { token, side, quantity, clientOrderId } = request;
      return place(account, {
        call: { type: 'close-position', requestData: { token, side, quantity, clientOrderId } },
        context,
        check: async () => {
          requireClientOrderId(clientOrderId);
          await requireExact(token, { quantity });
        },
        request: () => ({
          ...orderOf(request),
          side: side === 'long' ? 'sell' : 'buy',
          type: 'market',
          price: null,
          reduceOnly: true,
          presetStopLoss: null,
          presetTakeProfit: null,
        }),
      });
    },

    findOrder(account, { token, clientOrderId }, context) {
      const requestData = { token, clientOrderId };
      return look(account, { type: 'find-order', requestData, context, clientOrderId }, async (session) => {
        const order = session.namedOrder(token);
        return order && orderReport(token, order);
      });
    },

    async cancelOrder(account, { token, clientOrderId }, context) {
      const requestData = { token, clientOrderId };
      try {
        await change(
          account,
          { type: 'cancel-order', requestData, context, clientOrderId },
          async (session) => {
            const order = session.namedOrder(token);
            if (!order) throw new BookRefusal({ kind: 'order-unknown' });
            cancelPaperOrder(session, session.token(token), order);
          },
        );
        return { outcome: 'accepted' };
      } catch (error) {
        if (!(error instanceof ExchangeError)) throw error;
        const isGone = error.cause instanceof BookRefusal;
        return { outcome: isGone ? 'not-found' : 'unknown', message: error.message };
      }
    },

    fetchOpenOrders: (account, token, context) =>
      look(account, { type: 'open-orders', requestData: { token }, context }, async ({ account: book }) =>
        (book.tokens.get(token)?.orders ?? [])
          .filter((order) => isPending(order) && !order.reduceOnly)
          .map((order) => orderReport(token, order))
          .reverse(),
      ),

    fetchFill: () => Promise.resolve(null),
    fetchHolding,
    fetchPosition: async (account, token, context) =>
      (await fetchHolding(account, token, context))?.position ?? null,
    fetchProtection: async (account, token, context) =>
      (await fetchHolding(account, token, context))?.protection ?? { stopLoss: null, takeProfit: null },

    fetchHoldings: (account, context) =>
      look(account, { type: 'positions', requestData: {}, context }, async (session) => {
        const holdings: Holding[] = [];
        for (const book of session.account.tokens.values()) {
          const holding = await holdingIn(session, book);
          if (holding) holdings.push(holding);
        }
        return { holdings, unreadable: [] };
      }),

    placeProtection: setProtections,
    // A stop or target is moved in one transaction.
    moveProtection: setProtections,

    async cancelProtection(account, token, context) {
      const request = { requestData: { token }, context };
      const live = await look(
        account,
        { type: 'protection', ...request },
        async (session) => liveTriggers(session, token).length,
      );
      if (live === 0) return 0;
      return change(account, { type: 'cancel-protection', ...request }, async (session) => {
        const triggers = liveTriggers(session, token);
        for (const trigger of triggers)
          Object.assign(trigger, { state: 'cancelled', updatedAt: session.now });
        return triggers.length;
      });
    },

    async fetchClosedPositions(account, { since }, context) {
      const owner = ownerOf(account);
      const call = { type: 'closed-positions', method: 'GET', requestData: { since }, context } as const;
      return run(call, async () => {
        // Positions closed by the newest prices reach the table only in a separate transaction.
        await viewAccount(books, owner, async () => undefined);
        const all = await listClosedPositions(db, owner);
        return all
          .filter(({ closedAt }) => closedAt >= since)
          .map(closedPosition)
          .sort((a, b) => b.closedAt.getTime() - a.closedAt.getTime());
      });
    },

    fetchLedger: () =>
      Promise.reject(notSent('The ledger of paper mode is a table of this program, and is read there')),

    async findClosingOrder(account, { positionId }, context) {
      const owner = ownerOf(account);
      const call = { type: 'closed-orders', method: 'GET', requestData: { positionId }, context } as const;
      return run(call, async () => {
        const past = (await listClosedPositions(db, owner)).find(({ id }) => String(id) === positionId);
        const order = past && (await ordersById(db, owner, [past.closedBy])).get(past.closedBy)?.order;
        return order ? { clientOrderId: order.clientOrderId, source: SOURCES[order.source] } : null;
      });
    },
  };
}

const orderOf = ({
  token,
  clientOrderId,
  quantity,
}: Pick<EntryOrder, 'token' | 'clientOrderId' | 'quantity'>) => ({
  token,
  clientOrderId,
  size: D(quantity),
  // Null: the account's margin mode.
  marginMode: null,
});

const liveTriggers = ({ account }: PaperSession, token: string) =>
  (account.tokens.get(token)?.triggers ?? []).filter(({ state }) => state === 'live');

/** A position has one stop and one target: setting one replaces the previous one. */
async function setProtection(
  session: PaperSession,
  request: { token: string; planType: PlanType; price: string; clientOrderId: string },
): Promise<void> {
  const { token, planType, price, clientOrderId } = request;
  if (liveTrigger(session.token(token), planType)?.triggerPrice.eq(price)) return;
  await placePaperTrigger(session, { token, planType, clientOrderId, triggerPrice: D(price) });
}
