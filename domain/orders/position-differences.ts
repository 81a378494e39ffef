import { D } from '../decimal.ts';

/** The position at the exchange. Quantities in units of the token. */
export interface HeldFigures {
  quantity: string;
  leverage: number;
  stopLoss: string | null;
  takeProfit: string | null;
  /** Why the take profit is not known, as a clause. */
  targetProblem?: string;
}

/** The record of the trade that opened the position. */
export interface RecordedFigures {
  filledQuantity: string;
  /** What the last close of a part left open; null when no part was closed. */
  leftQuantity: string | null;
  leverage: number;
  stopLoss: string;
  takeProfit: string;
  /** False while the trade is in progress: its final figures are not settled yet. */
  isDone: boolean;
}

/** Where the exchange and our record of a position disagree, in words (I7); empty when they agree. */
export function positionDifferences(held: HeldFigures, recorded: RecordedFigures | null): string[] {
  if (recorded === null) return ['Not opened here'];
  if (!recorded.isDone) return [];
  const differences: string[] = [];
  const { filledQuantity, leftQuantity } = recorded;
  if (!D(held.quantity).eq(leftQuantity ?? filledQuantity)) {
    const here = leftQuantity === null ? `${filledQuantity} was bought or sold` : `${leftQuantity} was left`;
    differences.push(`The exchange holds ${held.quantity}, ${here} here`);
  }
  differences.push(...priceDifference('stop loss', held.stopLoss, recorded.stopLoss));
  differences.push(
    ...(held.targetProblem === undefined
      ? priceDifference('take profit', held.takeProfit, recorded.takeProfit)
      : [capitalised(held.targetProblem)]),
  );
  if (held.leverage !== recorded.leverage) {
    differences.push(`The exchange's leverage is ${held.leverage}, ${recorded.leverage} was set here`);
  }
  return differences;
}

const capitalised = (clause: string) => clause.charAt(0).toUpperCase() + clause.slice(1);

function priceDifference(name: string, held: string | null, recorded: string): string[] {
  if (held === null) return [`The exchange has no ${name}, ${recorded} was set here`];
  return D(held).eq(recorded) ? [] : [`The exchange's ${name} is ${held}, ${recorded} was set here`];
}

export const GONE_WITHOUT_NEWS =
  'Recorded as open here, but gone at the exchange, which has not told how it was closed';

/** An administrator ended the position on record: no connected account could show it. */
export const WRITTEN_OFF = 'Written off: no connected account could show whether it was closed';
