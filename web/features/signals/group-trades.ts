import type { Trade } from '#contract/signals.ts';

export interface FailureGroup {
  reason: string;
  usernames: string[];
  count: number;
  /** Share of all failed trades, 0 to 100. */
  percentage: number;
}

export interface TradeGroups {
  successful: Trade[];
  failed: Trade[];
  /** On their way or in doubt: neither successful nor failed yet. */
  unsettled: Trade[];
  /** Of all trades, as in the table, 0 to 100; null without any. */
  successRate: number | null;
  failures: FailureGroup[];
}

const UNKNOWN_ERROR = 'Unknown error';

/** Trades by outcome; the failed ones grouped by their error, the most frequent first. */
export function groupTrades(trades: readonly Trade[]): TradeGroups {
  const successful = trades.filter((trade) => trade.success);
  const unsettled = trades.filter((trade) => !trade.success && trade.fillStatus === null && !trade.error);
  const failed = trades.filter((trade) => !trade.success && !unsettled.includes(trade));
  const byReason = Map.groupBy(failed, (trade) => trade.error || UNKNOWN_ERROR);
  return {
    successful,
    failed,
    unsettled,
    successRate: trades.length === 0 ? null : (successful.length / trades.length) * 100,
    failures: [...byReason]
      .map(([reason, group]) => ({
        reason,
        usernames: [...new Set(group.map(({ username }) => username))],
        count: group.length,
        percentage: (group.length / failed.length) * 100,
      }))
      .sort((a, b) => b.count - a.count),
  };
}
