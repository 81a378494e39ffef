import type { After } from './exits.ts';

interface TradeSummary {
  outcome: string;
  fillStatus: string | null;
  protectionStatus: string | null;
}

interface EndSummary {
  /** Each a `TradeSummary` as JSON, or the outcome of a user who was not traded. */
  trades: string[];
  holding: { side: string } | null;
  exits?: string;
}

/**
 * Whether a user ended as without the fault (I8). Workflows of one token run one after another, so where a close
 * overtakes its entry, a fault that prolongs the entry of one user puts the close and what follows it at a later price.
 * Of those, what happened is compared, and not at which price or in which size.
 */
export function isSameEnd(own: string, control: string | undefined, after: After): boolean {
  if (own === control) return true;
  if (after !== 'overtake' || control === undefined) return false;
  return withoutLaterPrices(own) === withoutLaterPrices(control);
}

function withoutLaterPrices(summary: string): string {
  const { trades, holding, exits } = JSON.parse(summary) as EndSummary;
  const [first, ...later] = trades;
  return JSON.stringify({ first, later: later.map(whatHappened), side: holding?.side ?? null, exits });
}

function whatHappened(trade: string): string {
  if (!trade.startsWith('{')) return trade;
  const { outcome, fillStatus, protectionStatus } = JSON.parse(trade) as TradeSummary;
  return [outcome, fillStatus, protectionStatus].join(' ');
}
