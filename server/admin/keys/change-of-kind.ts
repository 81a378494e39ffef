import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import type { ClosedPosition, Exchange, ExchangeAccount, Holdings } from '#server/exchanges/exchange.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { startHalt } from '../halts/trading-halts.store.ts';
import { type CredentialsRow, listTradesInStored, type TradeInStored } from './exchange-credentials.store.ts';

/*
 * An exchange may turn an account into one of another kind, which is asked in another way. What we hold there is looked
 * for in the new kind before anything is ordered in it; what it does not show halts the user (I4, I9).
 */

/** How far the clocks of an exchange and of this machine may be apart. */
const CLOCK_DOUBT_MS = 30 * 60_000;

type KindDeps = Pick<Deps, 'clock' | 'config' | 'db'>;

export interface LostTrade {
  tradeId: string;
  token: string;
  reason: string;
}

/** The account was used as one of another kind until now. */
export const isOtherKind = (row: CredentialsRow, { accountMode }: Pick<CredentialsRow, 'accountMode'>) =>
  row.accountId !== null && row.accountMode !== accountMode;

/** Trades whose position or order the account, asked as one of its new kind, does not show. Throws if it cannot be read. */
export async function findLostTrades(
  { clock, config, db }: KindDeps,
  { row, exchange, account }: { row: CredentialsRow; exchange: Exchange; account: ExchangeAccount },
): Promise<LostTrade[]> {
  const { exchangeMode: mode } = config;
  if (mode === 'paper') return [];
  const owner = { userId: row.userId, platform: row.exchangePlatform as ExchangePlatform };
  const trades = await listTradesInStored(db, owner, { mode, accountId: row.accountId });
  if (trades.length === 0) return [];
  const context = { priority: 'protect' } as const;
  const { accountMode } = account.credentials;
  const held = await exchange.fetchHoldings(account, context);
  const missing = trades.filter((trade) => trade.isOpen && !isShown(held, trade));
  const oldestMs = Math.min(clock.now().getTime(), ...missing.map(({ createdAt }) => createdAt.getTime()));
  const since = new Date(oldestMs - CLOCK_DOUBT_MS);
  const closed = missing.length === 0 ? [] : await exchange.fetchClosedPositions(account, { since }, context);
  const lost = missing.filter((trade) => !closed.some((position) => hasClosed(position, trade)));
  const now = `the ${owner.platform} account became a ${accountMode} one`;
  return [
    ...lost.map(({ tradeId, token }) => ({
      tradeId,
      token,
      reason: `The ${token} position was open when ${now}, which shows neither the position nor how it ended: look for it at ${owner.platform}`,
    })),
    ...trades
      .filter(({ isSettled }) => !isSettled)
      .map(({ tradeId, token }) => ({
        tradeId,
        token,
        reason: `An order in ${token} was not settled when ${now}: look at ${owner.platform} whether it was filled`,
      })),
  ];
}

/** One that cannot be read is there: the protection audit deals with it. */
const isShown = ({ holdings, unreadable }: Holdings, { token }: TradeInStored): boolean =>
  holdings.some(({ position }) => position.token === token) ||
  unreadable.some((one) => one.token === null || one.token === token);

const hasClosed = (position: ClosedPosition, { token, createdAt }: TradeInStored): boolean =>
  position.token === token && position.closedAt.getTime() >= createdAt.getTime() - CLOCK_DOUBT_MS;

/** In the transaction that lets the account be used as one of its new kind. */
export async function haltForLost(
  tx: Tx,
  { audit, clock }: Pick<Deps, 'audit' | 'clock'>,
  { row, lost }: { row: CredentialsRow; lost: readonly LostTrade[] },
): Promise<void> {
  const { userId, exchangePlatform } = row;
  for (const one of lost) {
    await startHalt(tx, { ...one, userId, exchangePlatform, kind: 'unprotected', now: clock.now(), audit });
  }
}
