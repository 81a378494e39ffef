import type { OverviewAnswer } from '#contract/overview.ts';
import { formatMoney } from '../../lib/figures.ts';
import { formatCount, toNumber } from '../../lib/format.ts';
import { Profit } from '../../ui/profit.tsx';
import { StatCards } from '../../ui/stat-cards.tsx';
import { type RangeResults, type UnknownResults, useRangeResults } from './overview-data.ts';

const counted = (count: number, one: string, many = `${one}s`) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** '58.3%', or a dash without anything to count. */
function rate(part: number, whole: number): string {
  return whole > 0 && Number.isFinite(part) ? `${((part / whole) * 100).toFixed(1)}%` : '–';
}

function ratesOf(results: RangeResults | UnknownResults) {
  if ('missing' in results)
    return ['Win rate', 'Fill rate'].map((label) => ({ label, value: '–', detail: results.missing }));
  const { wins, fills, words } = results;
  return [
    {
      label: 'Win rate',
      value: rate(wins.won, wins.trades),
      detail: `${formatCount(wins.won)} of ${counted(wins.trades, 'trade')} ${words}`,
    },
    {
      label: 'Fill rate',
      value: rate(fills.filled, fills.orders),
      detail: `${formatCount(fills.filled)} of ${counted(fills.orders, 'order')} ${words}`,
    },
  ];
}

const joined = (...parts: (string | false)[]) => parts.filter(Boolean).join(', ');

/** Net before gross: results are after fees. What is not known is said, never counted as nothing. */
export function OverviewTiles({ answer, own = false }: { answer: OverviewAnswer; own?: boolean }) {
  const { netToday, open, equity } = answer;
  const results = useRangeResults(answer);
  const unknown = (count: number) => count > 0 && `${counted(count, 'result')} not known yet`;
  const unread = open.unread > 0 && `without ${counted(open.unread, 'account')} that could not be read`;
  const share = (toNumber(open.riskToStops) ?? Number.NaN) / (toNumber(equity) ?? Number.NaN);
  const ofEquity = open.unread === 0 && Number.isFinite(share) && `${(share * 100).toFixed(2)}% of equity`;
  return (
    <StatCards
      cards={[
        ...(own ? [{ label: 'Equity', value: formatMoney(equity), detail: 'Open profit included' }] : []),
        {
          label: 'Net today',
          value: <Profit amount={netToday.amount} />,
          detail: joined(
            `${counted(netToday.trades, 'closed trade')}, after fees`,
            unknown(netToday.unknown),
          ),
        },
        {
          label: `Net ${results.words}`,
          ...('missing' in results
            ? { value: '–', detail: results.missing }
            : {
                value: <Profit amount={results.net} />,
                detail: joined(`gross ${formatMoney(results.gross)} before fees`, unknown(results.unknown)),
              }),
        },
        {
          label: 'Open profit',
          value: <Profit amount={open.profit} />,
          detail: joined(
            own
              ? counted(open.positions, 'position')
              : `${counted(open.positions, 'position')} of ${counted(open.users, 'user')}`,
            unread,
          ),
        },
        {
          label: 'Risk to stops',
          value: formatMoney(open.riskToStops),
          detail:
            joined(
              open.withoutStop > 0 && `${counted(open.withoutStop, 'position')} without a stop`,
              ofEquity,
              open.riskLimit !== null && `limit ${formatMoney(open.riskLimit)}`,
            ) || 'from the present prices',
        },
        ...(own ? [] : ratesOf(results)),
      ]}
    />
  );
}
