import type { Deps, UserAccount } from '#server/deps.ts';
import { whyElsewhere } from '#server/features/position-maker/trade-account.ts';
import type { OpenTrade } from './positions.store.ts';

/** A position of ours that the account which is asked cannot show: it is in another one, or in another mode. */
export interface PositionElsewhere {
  token: string;
  why: string;
}

/** I7: what an account does not show says nothing of a position that is in another one. */
export function tradesOfAccount(
  deps: Pick<Deps, 'config'>,
  trades: readonly OpenTrade[],
  account: UserAccount,
): { here: OpenTrade[]; elsewhere: PositionElsewhere[] } {
  const here: OpenTrade[] = [];
  const elsewhere: PositionElsewhere[] = [];
  for (const trade of trades) {
    const why = whyElsewhere(deps, { trade, account, what: 'position' });
    if (why === null) here.push(trade);
    else elsewhere.push({ token: trade.token, why });
  }
  return { here, elsewhere };
}

/** In one sentence, without a full stop, by what keeps them from being read. */
export function describeElsewhere(elsewhere: readonly PositionElsewhere[]): string {
  const byReason = Map.groupBy(elsewhere, ({ why }) => why);
  return [...byReason]
    .map(([why, positions]) => `${[...new Set(positions.map(({ token }) => token))].join(', ')}: ${why}`)
    .join('; ');
}
