import type { ExchangePlatform } from '../user-settings.ts';
import { type Denial, deny } from '../workflow/denials.ts';

type AccountMode = 'classic' | 'unified';

/** Why a key with these rights is refused; null when it may trade. A key that may withdraw is always refused. */
export function denyKey(options: {
  exchange: ExchangePlatform;
  /** The kinds of account that the product trades at this exchange. */
  wanted: readonly AccountMode[];
  /** `untradedMode`: the mode of a unified account that is not traded, in the exchange's word. */
  key: { accountMode: AccountMode; untradedMode?: string; mayTrade: boolean; mayWithdraw: boolean };
}): Denial | null {
  const { exchange, wanted, key } = options;
  if (key.mayWithdraw) return deny('exchange_key_may_withdraw', { exchange });
  const { accountMode, untradedMode: mode } = key;
  if (!wanted.includes(accountMode))
    return deny('exchange_account_mode', { exchange, accountMode, wanted: wanted.join(' and ') });
  if (mode !== undefined) return deny('exchange_margin_mode', { exchange, mode });
  return key.mayTrade ? null : deny('exchange_key_may_not_trade', { exchange });
}
