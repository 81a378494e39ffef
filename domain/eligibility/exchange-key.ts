import type { ExchangePlatform } from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';

type AccountMode = 'classic' | 'unified';

/** Why a key of these rights is not taken; null when it may be traded with. What may withdraw is never taken. */
export function denyKey(options: {
  exchange: ExchangePlatform;
  /** The kind of account that is traded there. */
  wanted: AccountMode;
  key: { accountMode: AccountMode; mayTrade: boolean; mayWithdraw: boolean };
}): Denial | null {
  const { exchange, wanted, key } = options;
  if (key.mayWithdraw) return deny('exchange_key_may_withdraw', { exchange });
  const { accountMode } = key;
  if (accountMode !== wanted) return deny('exchange_account_mode', { exchange, accountMode, wanted });
  return key.mayTrade ? null : deny('exchange_key_may_not_trade', { exchange });
}
