import type { OpenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import type { ClosedSums } from '#server/engine/protection/positions.store.ts';

type Totals = Pick<PositionsAnswer, 'totals' | 'perUser' | 'perToken'>;

interface Sum {
  openCount: number;
  unrealisedProfit: Decimal;
  margin: Decimal;
  realisedProfit: Decimal;
  fees: Decimal;
}

const emptySum = (): Sum => ({
  openCount: 0,
  unrealisedProfit: D(0),
  margin: D(0),
  realisedProfit: D(0),
  fees: D(0),
});

/** Sums in USDT over all, by user and by token, each in the order of its name. */
export function addTotals({ open, closed }: { open: OpenPositionView[]; closed: ClosedSums }): Totals {
  const all = emptySum();
  const users = new Map<string, { username: string; sum: Sum }>();
  const tokens = new Map<string, Sum>();

  function sumOfUser({ userId, username }: { userId: string; username: string }): Sum {
    const known = users.get(userId) ?? { username, sum: emptySum() };
    users.set(userId, known);
    return known.sum;
  }

  function sumOfToken(token: string): Sum {
    const sum = tokens.get(token) ?? emptySum();
    tokens.set(token, sum);
    return sum;
  }

  for (const position of open) {
    for (const sum of [all, sumOfUser(position), sumOfToken(position.token)]) {
      sum.openCount += 1;
      sum.unrealisedProfit = sum.unrealisedProfit.plus(position.unrealisedProfit);
      sum.margin = sum.margin.plus(position.margin);
    }
  }
  const noteClosed = (sum: Sum, { realisedProfit, fees }: ClosedSums['all']) =>
    Object.assign(sum, { realisedProfit: D(realisedProfit), fees: D(fees) });
  noteClosed(all, closed.all);
  for (const user of closed.users) noteClosed(sumOfUser(user), user);
  for (const one of closed.tokens) noteClosed(sumOfToken(one.token), one);
  return {
    totals: toTotals(all),
    perUser: [...users]
      .map(([userId, { username, sum }]) => ({ userId, username, ...toTotals(sum) }))
      .sort((a, b) => a.username.localeCompare(b.username)),
    perToken: [...tokens]
      .map(([token, sum]) => ({ token, ...toTotals(sum) }))
      .sort((a, b) => a.token.localeCompare(b.token)),
  };
}

const toTotals = (sum: Sum) => ({
  openCount: sum.openCount,
  unrealisedProfit: toPlain(sum.unrealisedProfit),
  margin: toPlain(sum.margin),
  realisedProfit: toPlain(sum.realisedProfit),
  fees: toPlain(sum.fees),
});
