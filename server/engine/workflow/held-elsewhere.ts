import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { UserAccount } from '#server/deps.ts';
import { openTradeAccount, whyElsewhere } from '#server/engine/orders/trade-account.ts';
import type { LiveTrade, TradePlace } from '#server/engine/orders/trades.store.ts';
import { asExchangeError, ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import type { AutomationDeps } from './automation-deps.ts';

/**
 * Why a user who has changed the exchange, or the account there, is not traded at the new one: a position that this
 * product opened in the token is still held where they traded before, or nobody can say whether it is. It is that
 * exchange's own answer that counts; nothing is ordered there. Null: there is none, and where no trade of ours may be open
 * elsewhere nobody is asked.
 */
export async function denyHeldElsewhere(
  deps: AutomationDeps,
  options: {
    token: string;
    platform: ExchangePlatform;
    /** The one that is connected there; it was asked already. */
    account: UserAccount;
    liveTrades: readonly LiveTrade[];
  },
): Promise<Denial | null> {
  const { token, platform, account, liveTrades } = options;
  for (const trade of liveTrades) {
    const other = EXCHANGE_PLATFORMS.find((one) => one === trade.exchangePlatform);
    if (other === undefined || !deps.exchanges.supported.includes(other)) continue;
    if (trade.exchangeMode !== null && trade.exchangeMode !== deps.config.exchangeMode) continue;
    if (other === platform && whyElsewhere(deps, { trade, account, what: 'position' }) === null) continue;
    const held = await readPosition(deps, { trade, platform: other, token });
    if (typeof held === 'string') {
      return deny('perhaps_held_elsewhere', { token, exchange: other, problem: held });
    }
    if (held !== null) return deny('held_elsewhere', { token, side: held.side, exchange: other });
  }
  return null;
}

/** What the account of the trade holds in the token; a text: why it cannot be asked. */
async function readPosition(
  deps: AutomationDeps,
  { trade, platform, token }: { trade: TradePlace; platform: ExchangePlatform; token: string },
): Promise<OpenPosition | null | string> {
  const { account, problem } = await openTradeAccount(deps, trade);
  // With a key that the exchange refuses nothing is asked but what became of orders.
  if (account === null || problem !== null) return problem ?? 'its account is not known';
  const answer = await deps.exchanges.get(platform).fetchPosition(account, token).catch(asExchangeError);
  return answer instanceof ExchangeError ? answer.message : answer;
}
