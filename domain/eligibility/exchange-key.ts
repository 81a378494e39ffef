import type { ExchangePlatform } from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';

type AccountMode = 'classic' | 'unified';

/** Why a key with these rights is refused; null when it may trade. A key that may withdraw is always refused. */
export function denyKey(options: {
  exchange: ExchangePlatform;
  /** The kind of account that the product trades at this exchange. */
  wanted: AccountMode;
  key: { accountMode: AccountMode; mayTrade: boolean; mayWithdraw: boolean };
}): Denial | null {
  const { exchange, wanted, key } = options;
  if (key.mayWithdraw) return deny('exchange_key_may_withdraw', { exchange });
  const { accountMode } = key;
  if (accountMode !== wanted) return deny('exchange_account_mode', { exchange, accountMode, wanted });
  return key.mayTrade ? null : deny('exchange_key_may_not_trade', { exchange });
}
