import { createHash } from 'node:crypto';
import { D } from '#domain/decimal.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import {
  asExchangeError,
  type CallContext,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type Holding,
  notSent,
  type OpenPosition,
  type Placement,
  type Protection,
  type ProtectionRequest,
  type UnreadablePosition,
} from '../exchange.ts';
import type { ExchangeClock } from '../exchange-clock.ts';
import { changePlans } from './change-plans.ts';
import { type CcxtConnection, hasCode, requireAccountMode, unlessAlreadySo } from './connection.ts';
import type { CcxtDialect, ProtectionChange, ProtectionDialect, ProtectionPlan } from './dialect.ts';
import { type PlacedOrder, type PlacementRequest, requireExactPrice } from './placement.ts';
import type { PreparationMemory } from './prepared-accounts.ts';
import { textOf, tokenOf } from './readers.ts';

/** Order and position timestamps may differ by a moment. */
const ORDER_SLACK_MS = 60_000;

/** An open position with the exchange's own record of it. */
export interface ReadPosition {
  position: OpenPosition;
  info: unknown;
}

/** The open position in the token among an exchange's records; null if it is flat. */
export function openPositionIn(
  { positionOf }: Pick<CcxtDialect, 'positionOf'>,
  infos: unknown[],
  token: string,
): ReadPosition | null {
  const read = openPositionsIn({ positionOf }, infos);
  const doubtful = read.unreadable.find((one) => one.token === null || one.token === token);
  if (doubtful !== undefined) throw new ExchangeError('unknown', doubtful.problem);
  const [found, ...more] = read.positions.filter(({ position }) => position.token === token);
  if (more.length === 0) return found ?? null;
  throw new ExchangeError('refused', `${token} has a long and a short position: one-way mode is needed`);
}

function openPositionsIn({ positionOf }: Pick<CcxtDialect, 'positionOf'>, infos: unknown[]) {
  const positions: ReadPosition[] = [];
  const unreadable: UnreadablePosition[] = [];
  for (const info of infos) {
    try {
      const position = positionOf(info);
      if (position !== null) positions.push({ position, info });
    } catch (error) {
      unreadable.push(unreadablePosition(info, error));
    }
  }
  return { positions, unreadable };
}

function unreadablePosition(info: unknown, error: unknown): UnreadablePosition {
  const { message } = asExchangeError(error);
  const { symbol } = (info ?? {}) as { symbol?: unknown };
  const [name, token] = [textOf(symbol), tokenOf({ symbol })];
  return {
    symbol: name,
    token,
    problem: `a position${name === '' ? '' : ` in ${name}`} cannot be read: ${message}`,
  };
}

type PositionCalls = Pick<
  Exchange,
  | 'fetchPosition'
  | 'fetchFill'
  | 'fetchHolding'
  | 'fetchHoldings'
  | 'fetchProtection'
  | 'placeProtection'
  | 'moveProtection'
  | 'cancelProtection'
  | 'fetchClosedPositions'
  | 'findClosingOrder'
>;

/**
 * Open and closed positions of an account. The stop and target of an open position are orders at one exchange and
 * fields of the position at another.
 */
export function createCcxtPositions(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  place: (request: PlacementRequest, order: PlacedOrder) => Promise<Placement>;
  findOrder: Exchange['findOrder'];
  memory: PreparationMemory | null;
  clock: ExchangeClock;
}): PositionCalls {
  const { connection, dialect, place, findOrder, memory, clock } = options;
  const { protection, platform } = dialect;

  async function readAll(account: ExchangeAccount, context?: CallContext): Promise<unknown[]> {
    requireAccountMode(dialect, account);
    await connection.ready();
    return connection.call({ type: 'positions', account, context }, dialect.readPositions);
  }

  async function readPosition(account: ExchangeAccount, token: string, context?: CallContext) {
    // A contract that is no longer listed may still have a position.
    const isListed = (await connection.listed(token)) !== null;
    const request = { type: 'positions', account, context };
    const infos = isListed
      ? (await connection.callForToken(request, token, dialect.readPosition)).positions
      : await readAll(account, context);
    const found = openPositionIn(dialect, infos, token);
    if (found !== null) await compare(account, found.position);
    return found;
  }

  async function compare(
    account: ExchangeAccount,
    { token, leverage, marginMode }: OpenPosition,
  ): Promise<void> {
    const isIsolated = marginMode === null ? null : marginMode === 'isolated';
    await memory?.compare(account, token, { leverage, isIsolated });
  }

  const fetchHolding: Exchange['fetchHolding'] = async (account, token, context) => {
    const found = await readPosition(account, token, context);
    if (!found) return null;
    const { position, info } = found;
    if (protection.heldBy === 'position') return { position, protection: protection.of(info) };
    const shown = protection.shownByPosition?.(info) ?? NOTHING;
    if (shown.stopLoss !== null && shown.takeProfit !== null) return { position, protection: shown };
    const infos = await listPlans(account, token, context);
    return { position, protection: protection.of(infos, position, shown) };
  };

  async function listPlans(
    account: ExchangeAccount,
    token: string,
    context?: CallContext,
  ): Promise<unknown[]> {
    const request = { type: 'protection', account, context };
    return (await connection.listed(token))
      ? connection.callForToken(request, token, protection.list)
      : connection.call(request, (client) => protection.list(client));
  }

  async function setOnPosition(
    set: Extract<ProtectionDialect, { heldBy: 'position' }>['set'],
    { type, account, context }: PlacementRequest,
    { token, change, readsBack }: { token: string; change: ProtectionChange; readsBack: boolean },
  ): Promise<void> {
    const { side, triggerPrice } = change;
    const call = connection.callForToken({ type, account, context }, token, (client, symbol) => {
      requireExactPrice(client, symbol, { name: side, value: triggerPrice });
      return set(client, symbol, change);
    });
    if ((await unlessAlreadySo(dialect, call)) === 'set' && !readsBack) return;
    // The exchange also answers 'Not modified' to a request without effect: only the value read back counts.
    const present = (await fetchHolding(account, token, context))?.protection[side] ?? null;
    if (present !== null && D(present).eq(triggerPrice)) return;
    throw new ExchangeError(
      'refused',
      `${platform} did not change the position's ${side} to ${triggerPrice}`,
    );
  }

  async function placePlan(
    { orderParameters }: HeldByOrders,
    request: PlacementRequest,
    { token, side, quantity, clientOrderId, change, isSized = false }: NewPlan,
  ): Promise<void> {
    const most = (await connection.listed(token))?.contract.maximumMarketQuantity;
    const isLarge = most !== undefined && D(quantity).gt(most);
    if (isLarge && isSized) {
      throw notSent(
        `a second ${NAMES[change.side]} would be of ${quantity} ${token}, above the largest market order of ${most} ${token} on ${platform}: the present one stays`,
      );
    }
    const order: PlacedOrder = {
      token,
      clientOrderId,
      type: 'market',
      side: side === 'long' ? 'sell' : 'buy',
      quantity,
      prices: { triggerPrice: change.triggerPrice },
      parameters: orderParameters({ ...change, clientOrderId, isSized, isLarge }),
    };
    throwUnlessPlaced(await place(request, order));
  }

  /** I4: the old order is cancelled only after the new one was seen, so there is one at every moment. */
  async function replacePlans(orders: HeldByOrders, request: PlacementRequest, plan: NewPlan): Promise<void> {
    const { account, context } = request;
    const { token, clientOrderId, change } = plan;
    const name = NAMES[change.side];
    async function readPlans() {
      const infos = await connection.callForToken(
        { type: 'protection', account, context },
        token,
        orders.list,
      );
      const plans = infos
        .flatMap((info) => {
          const plan = orders.planOf(info);
          return plan === null ? [] : [{ ...plan, info }];
        })
        .filter(({ side }) => side === change.side);
      const isNew = (one: ProtectionPlan) => one.clientOrderId === clientOrderId;
      return { placed: plans.find(isNew) ?? null, old: plans.filter((one) => !isNew(one)) };
    }

    let { placed, old } = await readPlans();
    if (placed === null) {
      // There is only one for the whole position: beside it, the new one has a size of its own.
      const isSized = old.some(({ quantity }) => quantity === null);
      await placePlan(orders, request, { ...plan, isSized });
      ({ placed, old } = await readPlans());
    }
    if (placed === null || !isCovering(placed, plan)) {
      throw new ExchangeError('unknown', `${platform} does not show the new ${name} yet`);
    }
    for (const { info } of old) {
      const cancelling = connection.callForToken(
        { type: 'cancel-protection', account, context },
        token,
        (client, symbol) => orders.cancel(client, symbol, info),
      );
      await cancelling.catch((error: unknown) => {
        if (!hasCode(error, dialect.codes.notCancellable)) throw error;
      });
    }
    if (old.length > 0 && (await readPlans()).old.length > 0) {
      throw new ExchangeError('unknown', `${platform} still shows the old ${name} beside the new one`);
    }
  }

  return {
    fetchHolding,

    async fetchFill(account, order, context) {
      if (protection.heldBy === 'position' || protection.shownByPosition !== null) return null;
      const report = await findOrder(account, order, context);
      if (report?.state !== 'filled') return report === null ? null : { report, protection: null };
      const { token } = order;
      const filled = { token, side: sideOpenedBy(report.side), quantity: report.filledQuantity };
      const infos = await listPlans(account, token, context);
      return { report, protection: protection.of(infos, filled, NOTHING) };
    },

    async fetchPosition(account, token, context) {
      return (await readPosition(account, token, context))?.position ?? null;
    },

    async fetchProtection(account, token, context) {
      const holding = await fetchHolding(account, token, context);
      return holding?.protection ?? { stopLoss: null, takeProfit: null };
    },

    async fetchHoldings(account, context) {
      const { positions, unreadable } = openPositionsIn(dialect, await readAll(account, context));
      if (positions.length === 0) return { holdings: [], unreadable };
      const request = { type: 'protection', account, context };
      const plans =
        protection.heldBy === 'orders'
          ? await connection.call(request, (client) => protection.list(client))
          : [];
      const holdings: Holding[] = [];
      for (const { position, info } of positions) {
        await compare(account, position);
        try {
          const held =
            protection.heldBy === 'orders'
              ? protection.of(plans, position, protection.shownByPosition?.(info) ?? NOTHING)
              : protection.of(info);
          holdings.push({ position, protection: held });
        } catch (error) {
          unreadable.push(unreadablePosition(info, error));
        }
      }
      return { holdings, unreadable };
    },

    async placeProtection(account, request, context) {
      const { token, quantity } = request;
      // Stop first, in its own request: it must never be missing.
      for (const { change, type, clientOrderId } of changesOf(request)) {
        if (protection.heldBy === 'position') {
          await setOnPosition(
            protection.set,
            { type, account, context },
            { token, change, readsBack: false },
          );
          continue;
        }
        const { side } = request;
        const plan = { token, side, quantity, clientOrderId, change };
        await placePlan(protection, { type, account, context }, plan);
      }
    },

    async moveProtection(account, request, context) {
      const { token, side, quantity } = request;
      for (const { change, type, clientOrderId } of changesOf(request)) {
        if (protection.heldBy === 'position') {
          await setOnPosition(protection.set, { type, account, context }, { token, change, readsBack: true });
          continue;
        }
        const plan = { token, side, quantity, clientOrderId, change };
        const { modify } = protection;
        if (modify === null) {
          await replacePlans(protection, { type, account, context }, plan);
          continue;
        }
        await changePlans({
          connection,
          platform,
          orders: { ...protection, modify },
          request: { type, account, context },
          token,
          change,
          quantity,
          place: () => placePlan(protection, { type, account, context }, plan),
        });
      }
    },

    async cancelProtection(account, token, context) {
      const request = { type: 'protection', account, context };
      const read = () => connection.callForToken(request, token, protection.list);
      const infos = await read();
      if (infos.length === 0) return 0;
      let failure: unknown = null;
      // One that cannot be cancelled keeps no other from being cancelled.
      for (const info of infos) {
        const cancelling = connection.callForToken(
          { ...request, type: 'cancel-protection' },
          token,
          (client, symbol) => protection.cancel(client, symbol, info),
        );
        await cancelling.catch((error: unknown) => {
          failure ??= error;
        });
      }
      const left = await read();
      if (left.length === 0) return infos.length;
      if (failure !== null) throw failure;
      throw new ExchangeError(
        'unknown',
        `${platform} still shows stops and targets of ${token}: ${left.length}`,
      );
    },

    async fetchClosedPositions(account, { since }, context) {
      requireAccountMode(dialect, account);
      await connection.ready();
      const request = { type: 'closed-positions', account, context };
      // The clocks may have been set since: the earlier of the two readings of `since` misses nothing.
      const earliest = new Date(since.getTime() + Math.min(0, clock.aheadMs() ?? 0));
      const found = await connection.call(request, (client) =>
        dialect.fetchClosedPositions(client, { since: earliest, now: clock.now() }),
      );
      return found.sort((a, b) => b.closedAt.getTime() - a.closedAt.getTime());
    },

    async findClosingOrder(account, position, context) {
      const request = { type: 'closed-orders', account, context };
      const from = new Date(position.openedAt.getTime() - ORDER_SLACK_MS);
      const to = new Date(position.closedAt.getTime() + ORDER_SLACK_MS);
      return connection.callForToken(request, position.token, (client, symbol) =>
        dialect.findClosingOrder(client, symbol, { position, from, to }),
      );
    },
  };
}

const NOTHING: Protection = { stopLoss: null, takeProfit: null };

type HeldByOrders = Extract<ProtectionDialect, { heldBy: 'orders' }>;

type NewPlan = Pick<ProtectionRequest, 'token' | 'side' | 'quantity' | 'clientOrderId'> & {
  change: ProtectionChange;
  isSized?: boolean;
};

const isCovering = (
  { triggerPrice, quantity: size }: ProtectionPlan,
  { change, quantity }: Pick<NewPlan, 'change' | 'quantity'>,
): boolean =>
  triggerPrice !== null &&
  D(triggerPrice).eq(change.triggerPrice) &&
  (size === null || D(size).gte(quantity));

const NAMES = { stopLoss: 'stop loss', takeProfit: 'take profit' } as const;

function changesOf({ stopLoss, takeProfit, clientOrderId }: ProtectionRequest) {
  const changes = [
    { type: 'place-stop-loss', side: 'stopLoss' as const, triggerPrice: stopLoss, clientOrderId },
    {
      type: 'place-take-profit',
      side: 'takeProfit' as const,
      triggerPrice: takeProfit,
      clientOrderId: twinId(clientOrderId),
    },
  ];
  return changes.flatMap(({ type, side, triggerPrice, clientOrderId: id }) =>
    triggerPrice === null ? [] : [{ type, clientOrderId: id, change: { side, triggerPrice } }],
  );
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

/** Stop and target are two orders and need two ids; the second is derived from the first. */
const twinId = (clientOrderId: string) =>
  `t${createHash('sha256').update(clientOrderId).digest('hex').slice(0, 31)}`;
