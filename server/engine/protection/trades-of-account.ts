import type { ExchangePlatform } from '#domain/user-settings.ts';
import { deny } from '#domain/workflow/denials.ts';
import type { Deps, UserAccount } from '#server/deps.ts';
import { isPlayMoneyElsewhere, whyElsewhere } from '#server/engine/orders/trade-account.ts';
import { type AccountKey, listOpenTrades, type OpenTrade } from './positions.store.ts';

export type AccountDeps = Pick<Deps, 'accountGuard' | 'config' | 'db' | 'exchanges' | 'findAccount'>;

/** A position we opened that no connected account can show: its account is another one, in another mode, or gone. */
export interface HiddenPosition {
  trade: OpenTrade;
  why: string;
}

/** A user's trades at an exchange, split by whether the connected account, if any, can show them. */
interface AccountTrades {
  /** Null: no credentials are connected, or the program does not trade there. */
  connected: { account: UserAccount; platform: ExchangePlatform } | null;
  /** Trades whose position would be in this account. */
  here: OpenTrade[];
  hidden: HiddenPosition[];
}

/**
 * I7: an account says nothing about a position in another one. Positions of paper and demo mode are not missed in
 *    another mode.
 */
export function tradesOfAccount(
  deps: Pick<Deps, 'config'>,
  trades: readonly OpenTrade[],
  account: UserAccount,
): Pick<AccountTrades, 'here' | 'hidden'> {
  const here: OpenTrade[] = [];
  const hidden: HiddenPosition[] = [];
  for (const trade of trades) {
    const why = whyElsewhere(deps, { trade, account, what: 'position' });
    if (why === null) here.push(trade);
    else if (!isPlayMoneyElsewhere(deps, trade)) hidden.push({ trade, why });
  }
  return { here, hidden };
}

/** Calls the exchange only to identify the key's account, when it is unknown and may hold a position we opened. */
export async function readAccountTrades(deps: AccountDeps, key: AccountKey): Promise<AccountTrades> {
  const trades = await listOpenTrades(deps.db, key);
  const { userId } = key;
  const platform = deps.exchanges.supported.find((one) => one === key.exchangePlatform);
  const account = platform === undefined ? null : await openAccount(deps, { userId, platform, trades });
  if (account === null || platform === undefined) {
    const missed = trades.filter((trade) => !isPlayMoneyElsewhere(deps, trade));
    const isAsked = missed.length > 0 && platform !== undefined;
    const denial = isAsked ? await deps.accountGuard.deny(userId, platform) : null;
    const { reason: why } = denial ?? deny('exchange_not_connected', { exchange: key.exchangePlatform });
    return { connected: null, here: [], hidden: missed.map((trade) => ({ trade, why })) };
  }
  return { connected: { account, platform }, ...tradesOfAccount(deps, trades, account) };
}

async function openAccount(
  deps: AccountDeps,
  { userId, platform, trades }: { userId: string; platform: ExchangePlatform; trades: OpenTrade[] },
): Promise<UserAccount | null> {
  const account = await deps.findAccount(userId, platform);
  if (account === null || (account.accountId ?? null) !== null) return account;
  if (tradesOfAccount(deps, trades, account).hidden.length === 0) return account;
  await deps.accountGuard.deny(userId, platform);
  return await deps.findAccount(userId, platform);
}

/** One sentence without a full stop, grouped by the reason that they cannot be read. */
export function describeHidden(hidden: readonly HiddenPosition[]): string {
  const byReason = Map.groupBy(hidden, ({ why }) => why);
  return [...byReason]
    .map(
      ([why, positions]) => `${[...new Set(positions.map(({ trade }) => trade.token))].join(', ')}: ${why}`,
    )
    .join('; ');
}
