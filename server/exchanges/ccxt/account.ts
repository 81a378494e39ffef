import {
  type AccountPreparation,
  type CallContext,
  type CallRecord,
  type ExchangeAccount,
  ExchangeError,
} from '../exchange.ts';
import { type CcxtConnection, unlessAlreadySo } from './connection.ts';
import type { AccountState, CcxtClient, CcxtDialect } from './dialect.ts';

interface AccountCall {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  account: ExchangeAccount;
  context: CallContext | undefined;
}

/** The account's modes and its leverage for the token. */
export const readAccountState = (
  { connection, dialect, account, context }: AccountCall,
  token: string,
): Promise<AccountState> =>
  connection.callForToken({ type: 'account', account, context }, token, dialect.fetchAccountState);

/**
 * Sets one-way mode, isolated margin and the leverage, then reads them back. Sends only the settings that differ,
 * because an exchange may refuse even an unchanged setting while a position is open.
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
  // Each margin mode has its own leverage: the leverage just read belongs to the old mode.
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

/** How long a prefetched account state stays valid. */
const COUNTS_FOR_MS = 2_000;

type RecordCall = (call: CallRecord) => void;

type LookAhead = ReturnType<typeof createLookAhead>;

/** Prefetched account states: they keep the read off the critical path of an order. */
export function createLookAhead(options: {
  read: (account: ExchangeAccount, token: string, onCall: RecordCall) => Promise<AccountState>;
  now: () => Date;
}) {
  const { read, now } = options;
  const begun = new Map<string, { at: number; calls: CallRecord[]; state: Promise<AccountState | null> }>();

  function forgetOld(): void {
    const oldest = now().getTime() - COUNTS_FOR_MS;
    for (const [key, { at }] of begun) {
      if (at >= oldest) return;
      begun.delete(key);
    }
  }

  return {
    begin(account: ExchangeAccount, token: string): void {
      forgetOld();
      const key = keyOf(account, token);
      const calls: CallRecord[] = [];
      const state = read(account, token, (call) => calls.push(call)).catch(() => null);
      // Re-insert, so that the map keeps the oldest entry first.
      begun.delete(key);
      begun.set(key, { at: now().getTime(), calls, state });
    },
    /**
     * Returns the prefetched state once and reports its requests to `onCall`. Null when nothing was prefetched or the
     * read failed: the caller has to ask the exchange.
     */
    async take(account: ExchangeAccount, token: string, onCall?: RecordCall): Promise<AccountState | null> {
      forgetOld();
      const key = keyOf(account, token);
      const found = begun.get(key);
      if (found === undefined) return null;
      begun.delete(key);
      const state = await found.state;
      for (const call of found.calls) onCall?.(call);
      return state;
    },
  };
}

/** Includes the API key: another key may belong to another account. */
const keyOf = ({ userId, credentials }: ExchangeAccount, token: string) =>
  JSON.stringify([userId, credentials.apiKey, token]);
