import type { Trade } from '#contract/signals.ts';

interface FailureGroup {
  /** The text shared by all failures of the group, without figures that differ. */
  reason: string;
  /** Each user once, with their own texts where texts in the group differ. */
  users: { username: string; texts: string[] }[];
  count: number;
  /** Share of all failed trades, 0 to 100. */
  percentage: number;
}

export interface TradeGroups {
  successful: Trade[];
  failed: Trade[];
  /** In progress or in doubt: neither successful nor failed yet. */
  unsettled: Trade[];
  /** Share of all trades, 0 to 100; null without trades. */
  successRate: number | null;
  failures: FailureGroup[];
}

const UNKNOWN_ERROR = 'Unknown error';
/** Quantities, prices, percentages and times, but not digits inside words or codes in brackets. */
const FIGURE = /(?<![\p{L}\d._(-])\d(?:[\d.,:TZ-]*[\dZ])?%?(?![\p{L}\d_)])/gu;

const textOf = ({ error }: Trade): string => error || UNKNOWN_ERROR;
/** The text without figures, which is the same for all users who failed for the same cause. */
const causeOf = (text: string): string => text.replaceAll(FIGURE, '…');

/** Trades by outcome; failed ones are grouped by the cause of their error, the most frequent first. */
export function groupTrades(trades: readonly Trade[]): TradeGroups {
  const successful = trades.filter((trade) => trade.success);
  const unsettled = trades.filter((trade) => !trade.success && trade.fillStatus === null && !trade.error);
  const failed = trades.filter((trade) => !trade.success && !unsettled.includes(trade));
  const byCause = Map.groupBy(failed, (trade) => causeOf(textOf(trade)));
  return {
    successful,
    failed,
    unsettled,
    successRate: trades.length === 0 ? null : (successful.length / trades.length) * 100,
    failures: [...byCause.values()]
      .map((group) => ({
        ...tellOf(group),
        count: group.length,
        percentage: (group.length / failed.length) * 100,
      }))
      .sort((a, b) => b.count - a.count),
  };
}

function tellOf(group: readonly Trade[]): Pick<FailureGroup, 'reason' | 'users'> {
  const texts = [...new Set(group.map(textOf))];
  const byUser = Map.groupBy(group, ({ username }) => username);
  return {
    reason: commonText(texts),
    users: [...byUser].map(([username, own]) => ({
      username,
      texts: texts.length === 1 ? [] : [...new Set(own.map(textOf))],
    })),
  };
}

/** The common part of texts with the same cause, including figures they share. */
function commonText([text = '', ...others]: readonly string[]): string {
  const figures = others.map((other) => other.match(FIGURE) ?? []);
  let position = 0;
  return text.replaceAll(FIGURE, (figure) => {
    const isShared = figures.every((own) => own[position] === figure);
    position += 1;
    return isShared ? figure : '…';
  });
}
