import { createHash } from 'node:crypto';
import { D } from '#domain/decimal.ts';
import {
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type Placement,
  type PlacementContext,
  type Protection,
  type ProtectionRequest,
} from '../exchange.ts';
import { type CcxtConnection, readAnswer, unlessAlreadySo } from './connection.ts';
import type { CcxtDialect, ProtectionChange } from './dialect.ts';
import { type PlacedOrder, type PlacementRequest, requireExactPrice } from './placement.ts';
import { type PositionReader, positionIn } from './positions.ts';

type ProtectionCalls = Pick<
  Exchange,
  'fetchHolding' | 'fetchProtection' | 'fetchHoldings' | 'placeProtection' | 'cancelProtection'
>;

const NONE: Protection = { stopLoss: null, takeProfit: null };

/** The stop and target of open positions: orders at one exchange, figures of the position at another. */
export function createCcxtProtection(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  place: (request: PlacementRequest, order: PlacedOrder) => Promise<Placement>;
  readPositions: PositionReader;
}): ProtectionCalls {
  const { connection, dialect, place, readPositions } = options;
  const { protection, platform } = dialect;

  /** Answers null for a token without a position. */
  async function readOne(account: ExchangeAccount, token: string, context: PlacementContext) {
    const found = positionIn(await readPositions(account, context), token);
    if (!found || protection.heldBy === 'orders') return null;
    return readAnswer(() => protection.of(found.info));
  }

  async function setOnPosition(
    account: ExchangeAccount,
    { token }: ProtectionRequest,
    { change, type, context }: { change: ProtectionChange; type: string; context: PlacementContext },
  ): Promise<void> {
    if (protection.heldBy === 'orders') return;
    const { side, triggerPrice } = change;
    const call = connection.callForToken({ type, account, context }, token, (client, symbol) => {
      requireExactPrice(client, symbol, { name: side, value: triggerPrice });
      return protection.set(client, symbol, change);
    });
    if ((await unlessAlreadySo(dialect, call)) === 'set') return;
    // 'Not modified' is said of a request without effect, too: only what is read back counts.
    const present = (await readOne(account, token, context))?.[side] ?? null;
    if (present !== null && D(present).eq(triggerPrice)) return;
    throw new ExchangeError(
      'refused',
      `${platform} did not change the position's ${side} to ${triggerPrice}`,
    );
  }

  const fetchHolding: Exchange['fetchHolding'] = async (account, token, context) => {
    const found = positionIn(await readPositions(account, context), token);
    if (!found) return null;
    const { position, info } = found;
    if (protection.heldBy === 'position') {
      return { position, protection: readAnswer(() => protection.of(info)) };
    }
    const request = { type: 'protection', account, context };
    return connection.callForToken(request, token, async (client, symbol) => {
      const infos = await protection.list(client, symbol);
      return { position, protection: readAnswer(() => protection.of(infos, position)) };
    });
  };

  return {
    fetchHolding,

    async fetchProtection(account, token, context) {
      return (await fetchHolding(account, token, context))?.protection ?? NONE;
    },

    async fetchHoldings(account, context) {
      const all = await readPositions(account, context);
      if (all.length === 0) return [];
      if (protection.heldBy === 'position') {
        return readAnswer(() =>
          all.map(({ position, info }) => ({ position, protection: protection.of(info) })),
        );
      }
      const infos = await connection.call({ type: 'protection', account, context }, (client) =>
        protection.list(client),
      );
      return readAnswer(() =>
        all.map(({ position }) => ({ position, protection: protection.of(infos, position) })),
      );
    },

    async placeProtection(account, request, context) {
      // The stop first, and alone: it is the side that must never be missing.
      for (const { change, type, clientOrderId } of changesOf(request)) {
        if (protection.heldBy === 'position') {
          await setOnPosition(account, request, { change, type, context });
          continue;
        }
        const { token, quantity } = request;
        const order: PlacedOrder = {
          token,
          clientOrderId,
          type: 'market',
          side: request.side === 'long' ? 'sell' : 'buy',
          quantity,
          prices: { triggerPrice: change.triggerPrice },
          parameters: protection.orderParameters({ ...change, clientOrderId }),
        };
        throwUnlessPlaced(await place({ type, account, context }, order));
      }
    },

    async cancelProtection(account, token, context) {
      const request = { type: 'protection', account, context };
      const ids = await connection.callForToken(request, token, async (client, symbol) => {
        const infos = await protection.list(client, symbol);
        return readAnswer(() => infos.map(dialect.orderIdOf));
      });
      for (const id of ids) {
        await connection.callForToken(
          { type: 'cancel-protection', account, context },
          token,
          (client, symbol) => client.cancelOrder(id, symbol, protection.cancelParameters),
        );
      }
      return ids.length;
    },
  };
}

function changesOf({ stopLoss, takeProfit, clientOrderId }: ProtectionRequest) {
  const changes = [];
  if (stopLoss !== null) {
    const change = { side: 'stopLoss' as const, triggerPrice: stopLoss };
    changes.push({ type: 'place-stop-loss', clientOrderId, change });
  }
  if (takeProfit !== null) {
    const change = { side: 'takeProfit' as const, triggerPrice: takeProfit };
    changes.push({ type: 'place-take-profit', clientOrderId: twinId(clientOrderId), change });
  }
  return changes;
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

/** Stop and target are two orders, so they need two ids; the second follows from the first. */
const twinId = (clientOrderId: string) =>
  `t${createHash('sha256').update(clientOrderId).digest('hex').slice(0, 31)}`;
