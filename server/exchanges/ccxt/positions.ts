import {
  type CallContext,
  type Exchange,
  type ExchangeAccount,
  ExchangeError,
  type OpenPosition,
} from '../exchange.ts';
import { type CcxtConnection, readAnswer, requireAccountMode } from './connection.ts';
import type { CcxtDialect } from './dialect.ts';

/** An order is stamped a moment before or after the position that it closed. */
const ORDER_SLACK_MS = 60_000;

/** An open position with the exchange's own record of it. */
export interface ReadPosition {
  position: OpenPosition;
  info: unknown;
}

export type PositionReader = (
  account: ExchangeAccount,
  context: CallContext | undefined,
) => Promise<ReadPosition[]>;

export function positionIn(all: ReadPosition[], token: string): ReadPosition | null {
  const [found, ...more] = all.filter(({ position }) => position.token === token);
  if (more.length === 0) return found ?? null;
  throw new ExchangeError('refused', `${token} has a long and a short position: one-way mode is needed`);
}

export function createPositionReader(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
}): PositionReader {
  const { connection, dialect } = options;
  return async (account, context) => {
    requireAccountMode(dialect, account);
    await connection.ready();
    const infos = await connection.call({ type: 'positions', account, context }, (client) =>
      dialect.readPositions(client),
    );
    return readAnswer(() =>
      infos.flatMap((info) => {
        const position = dialect.positionOf(info);
        return position === null ? [] : [{ position, info }];
      }),
    );
  };
}

/** What an account has held. */
export function createCcxtPositions(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  now: () => Date;
}): Pick<Exchange, 'fetchClosedPositions' | 'findClosingOrder'> {
  const { connection, dialect, now } = options;

  return {
    async fetchClosedPositions(account, { since }, context) {
      requireAccountMode(dialect, account);
      await connection.ready();
      const request = { type: 'closed-positions', account, context };
      const found = await connection.call(request, (client) =>
        dialect.readClosedPositions(client, { since, now: now() }),
      );
      return found.sort((a, b) => b.closedAt.getTime() - a.closedAt.getTime());
    },

    async findClosingOrder(account, position, context) {
      const request = { type: 'closed-orders', account, context };
      const around = (at: Date, ms: number) => new Date(at.getTime() + ms);
      const period = {
        from: around(position.openedAt, -ORDER_SLACK_MS),
        to: around(position.closedAt, ORDER_SLACK_MS),
      };
      return connection.callForToken(request, position.token, async (client, symbol) => {
        const infos = await dialect.readEndedOrders(client, symbol, period);
        return readAnswer(() => dialect.closingOrderOf(infos, position));
      });
    },
  };
}
