import { D } from '../decimal.ts';

export const CLOSED_BY = [
  'stop loss',
  'take profit',
  'operator',
  'reversal',
  'signal',
  'exit plan',
  'protection',
  'liquidation',
  'unknown',
] as const;
export type ClosedBy = (typeof CLOSED_BY)[number];

const BY_SIGNAL = 'closed by signal';
const BY_EXIT_PLAN = 'exit plan';

/** Why the engine, or a user through it, closes a position: the reasons recorded with a closing order. */
export const CLOSE_REASONS = {
  operator: 'operator',
  stopMissing: 'stop loss missing',
  reversedBy: (signalId: string) => `reversed by signal ${signalId}`,
  closedBySignal: (signalId: string) => `${BY_SIGNAL} ${signalId}`,
  /** `revision`: which plan of the trade; `part`: which of its parts, from 1 on. */
  exitPart: (revision: number, part: number) => `${BY_EXIT_PLAN} ${revision}, part ${part}`,
  exitTime: (revision: number) => `${BY_EXIT_PLAN} ${revision}, held long enough`,
} as const;

interface PricedClose {
  side: 'long' | 'short';
  closePrice: string;
  stopLoss: string;
  takeProfit: string;
}

/**
 * What ended a position, as far as known: our own closing order, else the order that the exchange names, else, without
 * any order, the price at which the position ended.
 */
export function closedBy(
  input: PricedClose & {
    /** The reason of our closing order that ended the position. */
    closeReason: string | null;
    /** Null: the exchange reports no order. */
    source: 'stop loss' | 'take profit' | 'liquidation' | 'order' | null;
  },
): ClosedBy {
  const { closeReason, source } = input;
  if (closeReason !== null) return byOurOrder(closeReason);
  if (source === 'order') return 'unknown';
  return source ?? byPrice(input);
}

function byOurOrder(reason: string): ClosedBy {
  if (reason === CLOSE_REASONS.operator) return 'operator';
  if (reason.startsWith(BY_SIGNAL)) return 'signal';
  if (reason.startsWith(BY_EXIT_PLAN)) return 'exit plan';
  return reason === CLOSE_REASONS.stopMissing ? 'protection' : 'reversal';
}

function byPrice(input: PricedClose): ClosedBy {
  const sign = input.side === 'long' ? 1 : -1;
  const beyond = (price: string) => D(input.closePrice).minus(price).times(sign);
  if (beyond(input.stopLoss).lte(0)) return 'stop loss';
  return beyond(input.takeProfit).gte(0) ? 'take profit' : 'unknown';
}
