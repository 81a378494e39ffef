import {
  type AccountPreparation,
  type CallContext,
  type ExchangeAccount,
  ExchangeError,
} from '../exchange.ts';
import { type CcxtConnection, readAnswer, unlessAlreadySo } from './connection.ts';
import type { AccountState, CcxtClient, CcxtDialect } from './dialect.ts';
import type { LookAhead } from './look-ahead.ts';

interface AccountCall {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  account: ExchangeAccount;
  context: CallContext | undefined;
}

/** The account's modes, and its leverage in the token. */
export const readAccountState = (
  { connection, dialect, account, context }: AccountCall,
  token: string,
): Promise<AccountState> =>
  connection.callForToken({ type: 'account', account, context }, token, async (client, symbol) => {
    const info = await dialect.readAccountState(client, symbol);
    return readAnswer(() => dialect.accountStateOf(info));
  });

/**
 * One-way mode, isolated margin and the leverage. Only what differs is set, since an exchange may refuse even a
 * repetition while a position is open; what was set is read back.
 */
export async function prepareAccount(
  options: AccountCall & {
    preparation: AccountPreparation;
    lookAhead: LookAhead;
  },
): Promise<void> {
  const { connection, dialect, account, context, lookAhead } = options;
  const { token, leverage } = options.preparation;
  const state = () => readAccountState(options, token);
  const set = (type: string, work: (client: CcxtClient, symbol: string) => Promise<unknown>) =>
    unlessAlreadySo(dialect, connection.callForToken({ type, account, context }, token, work));
  const isReady = (present: AccountState) =>
    present.positionMode === dialect.oneWayMode &&
    present.marginMode === dialect.isolatedMode &&
    present.leverage === leverage;

  const found = (await lookAhead.take(account, token, context?.onCall)) ?? (await state());
  if (isReady(found)) return;
  if (found.positionMode !== dialect.oneWayMode) {
    await set('set-position-mode', (client, symbol) => client.setPositionMode(false, symbol));
  }
  const isIsolated = found.marginMode === dialect.isolatedMode;
  if (!isIsolated) {
    await set('set-margin-mode', (client, symbol) => client.setMarginMode('isolated', symbol));
  }
  // Each margin mode has a leverage of its own: the one that was found is not that of the new mode.
  if (!isIsolated || found.leverage !== leverage) {
    await set('set-leverage', (client, symbol) => client.setLeverage(leverage, symbol));
  }
  const present = await state();
  if (isReady(present)) return;
  throw new ExchangeError(
    'refused',
    `${dialect.platform} reads back ${present.positionMode}, ${present.marginMode}, leverage ${present.leverage}` +
      ` instead of ${dialect.oneWayMode}, ${dialect.isolatedMode}, leverage ${leverage}`,
  );
}
