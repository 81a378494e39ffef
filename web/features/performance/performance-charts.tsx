import type { CalendarAnswer } from '#contract/performance.ts';
import { AsTable, useAsTable } from '../../charts/as-table.tsx';
import { FallPlot, LinePlot, Plots } from '../../charts/plots.tsx';
import { formatMoney, formatProfit } from '../../lib/figures.ts';
import { formatCount } from '../../lib/format.ts';
import { Panel } from '../../ui/panel.tsx';
import { Profit } from '../../ui/profit.tsx';
import { calendarWeeks, type DayNet, netPicture } from './chart-models.ts';
import classes from './performance.module.css';

/** As times are shown elsewhere. */
const shownDay = (day: string) => day.replaceAll('-', '/');

export interface ChartsProps extends Pick<CalendarAnswer, 'days' | 'daysUp' | 'daysDown'> {
  /** The range; undefined where it is open. */
  first: string | undefined;
  last: string | undefined;
  today: string;
}

export default function PerformanceCharts({ days, daysUp, daysDown, first, last, today }: ChartsProps) {
  const end = last !== undefined && last < today ? last : today;
  return (
    <div className={classes.columns}>
      <NetChart days={days} first={first ?? days[0]?.day ?? end} last={end} />
      <NetCalendar days={days} daysUp={daysUp} daysDown={daysDown} first={first} last={end} today={today} />
    </div>
  );
}

/** The cumulative net of the range day by day, and below it the fall from its highest value, on one time axis. */
function NetChart({ days, first, last }: { days: DayNet[]; first: string; last: string }) {
  const { asTable, toggle } = useAsTable();
  const points = netPicture(days, { first, last });
  const totals = points.map(({ total }) => total);
  const [low, high] = [Math.min(0, ...totals), Math.max(0, ...totals)];
  const deepest = Math.max(...points.map(({ fall }) => fall), 0);
  const final = totals.at(-1) ?? 0;
  return (
    <Panel
      title="Cumulative net and drawdown"
      description="Of the closed trades in the range, at the end of each day"
      aside={toggle}
    >
      {asTable ? (
        <AsTable
          label="Cumulative net and drawdown"
          head={['Day', 'Cumulative net', 'Below the highest']}
          rows={points
            .toReversed()
            .map(({ day, total, fall }) => [
              shownDay(day),
              <Profit key="net" amount={String(total)} />,
              formatMoney(-fall),
            ])}
        />
      ) : (
        <Plots first={shownDay(first)} last={shownDay(last)}>
          <LinePlot
            label={`Cumulative net from ${shownDay(first)} to ${shownDay(last)}: ends at ${formatProfit(final)}, between ${formatMoney(low)} and ${formatMoney(high)}`}
            values={points.map(({ day, total }) => ({ at: day, value: total }))}
            low={low}
            high={high}
            base={0}
            rules={[0]}
            scale={
              <>
                <span>{formatMoney(high)}</span>
                <strong>{formatProfit(final)}</strong>
                <span>{formatMoney(low)}</span>
              </>
            }
          />
          <FallPlot
            label={`Drawdown: at most ${formatMoney(deepest)} below the highest net at the end of a day`}
            falls={points.map(({ day, fall }) => ({ at: day, value: fall }))}
            deepest={deepest}
          />
        </Plots>
      )}
    </Panel>
  );
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MOST_WEEKS = 6;

interface NetCalendarProps extends Pick<CalendarAnswer, 'days' | 'daysUp' | 'daysDown'> {
  first: string | undefined;
  last: string;
  today: string;
}

function NetCalendar({ days, daysUp, daysDown, first, last, today }: NetCalendarProps) {
  const { asTable, toggle } = useAsTable();
  const weeks = calendarWeeks(days, { first: first ?? days[0]?.day ?? last, last, most: MOST_WEEKS });
  const isCut = (first ?? days[0]?.day ?? last) < (weeks[0]?.[0]?.day ?? last);
  return (
    <Panel
      title="Net a day, USDT"
      description={`${formatCount(daysUp)} up, ${formatCount(daysDown)} down${isCut ? `; the last ${MOST_WEEKS} weeks` : ''}`}
      aside={toggle}
    >
      {asTable ? (
        <AsTable
          label="Net a day"
          head={['Day', 'Net', 'Trades']}
          rows={days
            .toReversed()
            .map(({ day, net, trades }) => [
              shownDay(day),
              <Profit key="net" amount={net} />,
              formatCount(trades),
            ])}
        />
      ) : (
        <table className={classes.calendar} aria-label="Net a day">
          <thead>
            <tr>
              {WEEKDAYS.map((name) => (
                <th key={name} scope="col" className={classes.weekday}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {weeks.map((week) => (
              <tr key={week[0]?.day}>
                {week.map(({ day, isInRange, net, step, unknown }) => (
                  <td
                    key={day}
                    data-step={isInRange ? step : undefined}
                    data-outside={!isInRange || undefined}
                    data-today={day === today || undefined}
                    title={unknown > 0 ? `${unknown} trades are not in it: not known yet` : undefined}
                  >
                    <time dateTime={day}>
                      {day.endsWith('-01') || day === week[0]?.day
                        ? day.slice(5).replace('-', '/')
                        : Number(day.slice(8))}
                    </time>
                    {isInRange ? <span>{net}</span> : null}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
