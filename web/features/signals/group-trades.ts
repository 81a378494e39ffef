import type { Trade } from '#contract/signals.ts';

export interface FailureGroup {
  /** As all of them have it; figures that differ are left out. */
  reason: string;
  /** Each once, with the texts of the own trades where not all have the same. */
  users: { username: string; texts: string[] }[];
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
/** Quantities, prices, percentages and times, but no digits of a word and no code in brackets. */
const FIGURE = /(?<![\p{L}\d._(-])\d(?:[\d.,:TZ-]*[\dZ])?%?(?![\p{L}\d_)])/gu;

const textOf = ({ error }: Trade): string => error || UNKNOWN_ERROR;
/** What users have in common who failed for one cause, each with figures of their own. */
const causeOf = (text: string): string => text.replaceAll(FIGURE, '…');

/** Trades by outcome; the failed ones grouped by the cause of their error, the most frequent first. */
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

/** What texts of one cause say alike, the figures that they share included. */
function commonText([text = '', ...others]: readonly string[]): string {
  const figures = others.map((other) => other.match(FIGURE) ?? []);
  let position = 0;
  return text.replaceAll(FIGURE, (figure) => {
    const isShared = figures.every((own) => own[position] === figure);
    position += 1;
    return isShared ? figure : '…';
  });
}
