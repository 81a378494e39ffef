import type { OpenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import type { ClosedSums } from './positions.store.ts';

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
export function addTotals({ open, closed }: { open: OpenPositionView[]; closed: ClosedSums[] }): Totals {
  const all = emptySum();
  const users = new Map<string, { username: string; sum: Sum }>();
  const tokens = new Map<string, Sum>();

  function sumsOf({ userId, username, token }: { userId: string; username: string; token: string }): Sum[] {
    const ofUser = users.get(userId) ?? { username, sum: emptySum() };
    const ofToken = tokens.get(token) ?? emptySum();
    users.set(userId, ofUser);
    tokens.set(token, ofToken);
    return [all, ofUser.sum, ofToken];
  }

  for (const position of open) {
    for (const sum of sumsOf(position)) {
      sum.openCount += 1;
      sum.unrealisedProfit = sum.unrealisedProfit.plus(position.unrealisedProfit);
      sum.margin = sum.margin.plus(position.margin);
    }
  }
  for (const row of closed) {
    for (const sum of sumsOf(row)) {
      sum.realisedProfit = sum.realisedProfit.plus(row.realisedProfit);
      sum.fees = sum.fees.plus(row.fees);
    }
  }
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
