import { LRUCache } from 'lru-cache';
import {
  type AccountPreparation,
  type CallContext,
  type CallRecord,
  type ExchangeAccount,
  ExchangeError,
  type TradeAccount,
} from '../exchange.ts';
import { type CcxtConnection, unlessAlreadySo } from './connection.ts';
import type { AccountState, CcxtClient, CcxtDialect, FuturesBalance } from './dialect.ts';
import { openPositionIn } from './positions.ts';
import type { PreparationMemory, Remembered } from './prepared-accounts.ts';

export const NO_SPOT = { spotBalance: null, spotAvailable: null, spotLocked: null };

/** How long calls of a preparation wait for the order that they were made for. */
const CALLS_KEPT_MS = 60_000;
const MOST_CALLS_KEPT = 5_000;

/** What is known of an account's settings; the rest was not read. */
type KnownState = Partial<AccountState>;

interface AccountCall {
  account: ExchangeAccount;
  token: string;
  context: CallContext | undefined;
}

/**
 * Reads the account and prepares it for an order. Sends only the settings that differ, because an exchange may refuse
 * even an unchanged setting while a position is open.
 */
export function createCcxtAccounts(options: {
  connection: CcxtConnection;
  dialect: CcxtDialect;
  /** Null: accounts are prepared every time. */
  memory: PreparationMemory | null;
}) {
  const { connection, dialect, memory } = options;
  const { platform, readMarginMode, readSettings } = dialect;
  /** Requests that prepared an account ahead of its order. */
  const callsAhead = new LRUCache<string, CallRecord[]>({ max: MOST_CALLS_KEPT, ttl: CALLS_KEPT_MS });

  const ask = <T>(
    { account, token, context }: AccountCall,
    type: string,
    work: (client: CcxtClient, symbol: string) => Promise<T>,
  ): Promise<T> => connection.callForToken({ type, account, context }, token, work);

  const readPosition = (call: AccountCall) => ask(call, 'positions', dialect.readPosition);

  /** Settings that are an answer of their own are not read where they are `known`. */
  async function readAccount(
    call: AccountCall,
    known: KnownState | null = null,
  ): Promise<KnownState & { balance: FuturesBalance }> {
    const { readAccount: together, fetchBalance } = dialect;
    const alone = async () => ({ balance: await ask(call, 'balance', fetchBalance) });
    const [{ balance, ...state }, settings] = await Promise.all([
      together === null ? alone() : ask(call, 'account', together),
      known ?? (readSettings === null ? {} : ask(call, 'account', readSettings)),
    ]);
    if (balance !== null) return { balance, ...state, ...settings };
    throw new ExchangeError('unknown', `${platform} answered no USDT balance`);
  }

  /** Nothing where the margin mode belongs to a token, or is remembered. */
  async function readAccountMargin(call: AccountCall, remembered: Remembered | null): Promise<KnownState> {
    if (readMarginMode === null) return {};
    if (remembered?.isAccountIsolated) return { marginMode: dialect.isolatedMode };
    return { marginMode: await ask(call, 'account', readMarginMode) };
  }

  /** The settings alone, to set them or to read them back. */
  async function readState(call: AccountCall, remembered: Remembered | null): Promise<KnownState> {
    const together = readSettings ?? dialect.readAccount;
    if (together !== null) return ask<KnownState>(call, 'account', together);
    return { ...(await readAccountMargin(call, remembered)), ...(await readPosition(call)) };
  }

  const isReady = (state: KnownState, leverage: number) =>
    state.positionMode === dialect.oneWayMode &&
    state.marginMode === dialect.isolatedMode &&
    state.leverage === leverage;

  /** Sends what differs from `present`; an unknown position mode is left alone. */
  async function change(call: AccountCall, present: KnownState, leverage: number): Promise<void> {
    const set = (type: string, work: (client: CcxtClient, symbol: string) => Promise<unknown>) =>
      unlessAlreadySo(dialect, ask(call, type, work));
    if (present.positionMode !== undefined && present.positionMode !== dialect.oneWayMode) {
      await set('set-position-mode', (client, symbol) => client.setPositionMode(false, symbol));
    }
    const isIsolated = present.marginMode === dialect.isolatedMode;
    if (!isIsolated) {
      await set('set-margin-mode', (client, symbol) => client.setMarginMode('isolated', symbol));
    }
    // Each margin mode has its own leverage: the leverage just read belongs to the old mode.
    if (!isIsolated || present.leverage !== leverage) {
      await set('set-leverage', (client, symbol) => client.setLeverage(leverage, symbol));
    }
  }

  /** Sets what differs and reads it back. The margin mode of an account is read again only if it was set. */
  async function bring(call: AccountCall, present: KnownState, leverage: number): Promise<KnownState> {
    await memory?.forget(call.account.userId, call.token);
    await change(call, present, leverage);
    const isAccountIsolated = present.marginMode === dialect.isolatedMode;
    return readState(call, { leverage: null, isFresh: false, isAccountIsolated });
  }

  /** `isKept`: nothing was changed since it was recalled. */
  async function remember(
    { account, token }: AccountCall,
    leverage: number,
    { remembered, isKept }: { remembered: Remembered | null; isKept: boolean },
  ): Promise<void> {
    const { isFresh = false, isAccountIsolated = false, leverage: last = null } = remembered ?? {};
    // Begun together, they are one statement.
    await Promise.all([
      (!isKept || !isFresh || last !== leverage) && memory?.remember(account, token, leverage),
      readMarginMode !== null && !isAccountIsolated && memory?.rememberIsolated(account),
    ]);
  }

  /**
   * Where the settings come with the balance, they are made first if they are believed to differ: one reading then
   * serves sizing and as the read-back.
   */
  async function readAfterSetting(
    call: AccountCall,
    { leverage, remembered }: { leverage: number; remembered: Remembered },
  ) {
    const position = await readPosition(call);
    const { leverage: last } = remembered;
    // Where the settings are apart, no request could change the account's margin mode.
    const assumed = readSettings === null ? {} : { marginMode: dialect.isolatedMode };
    const believed = last === null ? assumed : { marginMode: dialect.isolatedMode, leverage: last };
    if (position.positions.every((info) => dialect.positionOf(info) === null)) {
      if (last !== null) await memory?.forget(call.account.userId, call.token);
      await change(call, believed, leverage).catch(ignoreExchangeError);
    }
    return { ...position, ...(await readAccount(call)) };
  }

  async function readTogether(
    call: AccountCall,
    { leverage, remembered }: { leverage: number | null; remembered: Remembered | null },
  ) {
    const isKnown = readSettings !== null && remembered?.isFresh && remembered.leverage === leverage;
    const { oneWayMode: positionMode, isolatedMode: marginMode } = dialect;
    const known = isKnown && leverage !== null ? { positionMode, marginMode, leverage } : null;
    const [position, account, margin] = await Promise.all([
      readPosition(call),
      readAccount(call, known),
      readAccountMargin(call, remembered),
    ]);
    return { ...position, ...account, ...margin };
  }

  const keyOf = ({ account, token }: AccountCall) =>
    JSON.stringify([account.userId, account.credentials.apiKey, token]);

  return {
    async readTradeAccount(
      account: ExchangeAccount,
      { token, leverage }: { token: string; leverage: number | null },
      context?: CallContext,
    ): Promise<TradeAccount> {
      const calls: CallRecord[] = [];
      const onCall = (record: CallRecord) => {
        calls.push(record);
        context?.onCall?.(record);
      };
      const call = { account, token, context: { ...context, onCall } };
      const remembered = (await memory?.recall(account, token)) ?? null;
      const isAhead =
        (readSettings ?? dialect.readAccount) !== null &&
        leverage !== null &&
        remembered !== null &&
        remembered.leverage !== leverage;
      const found = isAhead
        ? await readAfterSetting(call, { leverage, remembered })
        : await readTogether(call, { leverage, remembered });
      const position = openPositionIn(dialect, found.positions, token)?.position ?? null;
      if (leverage !== null && position === null) {
        const isSo = isReady(found, leverage);
        const state = isSo ? found : await bring(call, found, leverage).catch(ignoreExchangeError);
        if (state !== null && isReady(state, leverage)) {
          await remember(call, leverage, { remembered, isKept: isSo && !isAhead });
        }
        callsAhead.set(keyOf(call), calls);
      }
      const last = remembered?.leverage ?? null;
      if (leverage === null && position === null && last !== null && isReady(found, last)) {
        await memory?.remember(account, token, last);
        if (readMarginMode !== null && !remembered?.isAccountIsolated)
          await memory?.rememberIsolated(account);
      }
      return { balance: { ...found.balance, ...NO_SPOT }, position };
    },

    async prepareAccount(
      account: ExchangeAccount,
      { token, leverage }: AccountPreparation,
      context?: CallContext,
    ): Promise<void> {
      const call = { account, token, context };
      const ahead = callsAhead.get(keyOf(call)) ?? [];
      callsAhead.delete(keyOf(call));
      for (const record of ahead) context?.onCall?.(record);
      const remembered = (await memory?.recall(account, token)) ?? null;
      const isMarginKnown = readMarginMode === null || remembered?.isAccountIsolated;
      if (remembered?.isFresh && isMarginKnown && remembered.leverage === leverage) return;
      const found = await readState(call, remembered);
      const present = isReady(found, leverage) ? found : await bring(call, found, leverage);
      if (isReady(present, leverage)) return remember(call, leverage, { remembered, isKept: false });
      throw new ExchangeError(
        'refused',
        `${platform} reads back ${present.positionMode}, ${present.marginMode}, leverage ${present.leverage}` +
          ` instead of ${dialect.oneWayMode}, ${dialect.isolatedMode}, leverage ${leverage}`,
      );
    },
  };
}

function ignoreExchangeError(error: unknown): null {
  if (error instanceof ExchangeError) return null;
  throw error;
}
