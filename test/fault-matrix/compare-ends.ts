import type { After } from './exits.ts';

interface TradeSummary {
  outcome: string;
  fillStatus: string | null;
  protectionStatus: string | null;
  filledQuantity?: string | null;
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
 * Of those, what happened is compared, and not at which price or in which size. A position may have reached its stop or
 * its target by then: nothing is left to close.
 */
export function isSameEnd(own: string, control: string | undefined, after: After): boolean {
  if (own === control) return true;
  if (after !== 'overtake' || control === undefined) return false;
  return withoutLaterPrices(own) === withoutLaterPrices(control);
}

function withoutLaterPrices(summary: string): string {
  const { trades, holding, exits } = JSON.parse(summary) as EndSummary;
  const [first, ...later] = trades;
  return JSON.stringify({
    first,
    later: later.map(whatHappened),
    side: holding?.side ?? null,
    exits: later.length === 0 && holding === null && first !== undefined ? endOf(first, exits) : exits,
  });
}

/** One word for a position that was closed whole, or had ended before. */
function endOf(entry: string, exits: string | undefined): string | undefined {
  const filled = entry.startsWith('{') ? (JSON.parse(entry) as TradeSummary).filledQuantity : null;
  return exits === 'skipped 0' || exits === `success ${filled}` ? 'ended' : exits;
}

function whatHappened(trade: string): string {
  if (!trade.startsWith('{')) return trade;
  const { outcome, fillStatus, protectionStatus } = JSON.parse(trade) as TradeSummary;
  return [outcome, fillStatus, protectionStatus].join(' ');
}
