import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import type { CandlesAnswer } from '#contract/charts.ts';
import type { OpenPositionView } from '#contract/positions.ts';
import { displayTimeframe } from '#domain/timeframe.ts';
import { CandleChart } from '#web/charts/candle-chart.tsx';
import { CandleChartSkeleton } from '#web/charts/candle-chart-skeleton.tsx';
import { SidePanel } from '#web/lists/side-panel.tsx';
import { useReadableInstants } from '#web/ui/use-readable-instants.ts';
import { formatFullPrice, formatMoney, formatQuantity, formatReturn } from '../../lib/figures.ts';
import { capitalise, formatLeverage, plainCount } from '../../lib/format.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { Facts } from '../../ui/facts.tsx';
import { ButtonLink } from '../../ui/link.tsx';
import { Profit } from '../../ui/profit.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { Section } from '../../ui/section.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { TokenBadge } from '../../ui/trading-badges.tsx';
import { useDialogHistory } from '../../ui/use-dialog-history.ts';
import { ExitProgress } from './exit-progress.tsx';
import { positionId } from './position-id.ts';
import classes from './position-panel.module.css';
import { StopTargetBar } from './stop-target-bar.tsx';
import { distanceText } from './stop-target-model.ts';

interface PositionPanelProps {
  /** Of the position that is shown; it may have been closed meanwhile. */
  id: string;
  /** The open positions in the order of the table, which J and K walk through. */
  rows: readonly OpenPositionView[];
  onClosePanel: () => void;
  onClose: (position: OpenPositionView, percent: number) => void;
  onMove: (position: OpenPositionView) => void;
}

/** One open position beside the table: where the price is between stop and target, and how it came there. */
export default function PositionPanel({ id, rows, onClosePanel, onClose, onMove }: PositionPanelProps) {
  const { adjust, close } = useDialogHistory();
  const place = rows.findIndex((row) => positionId(row) === id);
  const position = rows[place];
  const goTo = (row: OpenPositionView | undefined) => row && (() => adjust({ position: positionId(row) }));
  return (
    <SidePanel
      title={position ? titleOf(position) : 'Position'}
      icon={
        position ? (
          <span className={classes.disc} aria-hidden>
            <TokenBadge token={position.token} />
          </span>
        ) : null
      }
      subtitle={position ? <Origin position={position} /> : 'Not open any more'}
      status={position ? <Result position={position} /> : null}
      noun="position"
      onPrevious={goTo(rows[place - 1])}
      onNext={goTo(rows[place + 1])}
      onClose={() => close(onClosePanel)}
      foot={position ? <Actions position={position} onClose={onClose} onMove={onMove} /> : null}
    >
      {position ? (
        <Details key={id} position={position} />
      ) : (
        <EmptyState>The exchange does not report this position any more</EmptyState>
      )}
    </SidePanel>
  );
}

const titleOf = ({ token, side, leverage, username }: OpenPositionView): string =>
  `${token} ${capitalise(side)} ${plainCount(leverage)}×, ${username}`;

function Origin({ position }: { position: OpenPositionView }): ReactNode {
  const formatInstant = useFormatInstant();
  const { processor, timeframe, exchangePlatform, openedAt } = position;
  return [
    processor && timeframe ? `${processor} ${displayTimeframe(timeframe)}` : 'Not opened here',
    exchangePlatform,
    ...(openedAt ? [`opened ${formatInstant(openedAt)}`] : []),
  ].join(', ');
}

function Result({ position: { unrealisedProfit, margin } }: { position: OpenPositionView }) {
  return (
    <p className={classes.result}>
      <strong>
        <Profit amount={unrealisedProfit} />
      </strong>{' '}
      {formatReturn(unrealisedProfit, margin)} of the margin, unrealised
    </p>
  );
}

function Actions(props: Pick<PositionPanelProps, 'onClose' | 'onMove'> & { position: OpenPositionView }) {
  const { position, onClose, onMove } = props;
  return (
    <>
      {position.tradeId === null ? null : (
        <Button size="xs" variant="default" onClick={() => onMove(position)}>
          Move…
        </Button>
      )}
      <Button size="xs" variant="default" onClick={() => onClose(position, 50)}>
        Close 50 %…
      </Button>
      <Button size="xs" variant="default" onClick={() => onClose(position, 100)}>
        Close…
      </Button>
      {position.signalId === null ? null : (
        <ButtonLink
          to="/signals"
          search={{ panel: 'outcome', signal: position.signalId }}
          size="xs"
          variant="default"
        >
          Signal
        </ButtonLink>
      )}
    </>
  );
}

function Details({ position }: { position: OpenPositionView }) {
  const readable = useReadableInstants();
  const { token, stopLoss, takeProfit, markPrice, quantity, entryPrice, exits, differences } = position;
  const level = (price: string | null) =>
    price === null
      ? 'None'
      : [formatFullPrice(price), distanceText(price, markPrice)].filter(Boolean).join(', ');
  return (
    <>
      {differences.map((difference) => (
        <p key={difference} className={classes.difference}>
          {readable(difference)}
        </p>
      ))}
      <Section title="Price">
        <Price position={position} />
      </Section>
      <Section spaced title="Stop to target">
        <StopTargetBar position={position} />
      </Section>
      <Section spaced title="Figures">
        <Facts
          columns={2}
          facts={[
            ['Size', `${formatQuantity(quantity)} ${token}`],
            ['Entry', formatFullPrice(entryPrice)],
            ['Mark', markPrice === null ? '–' : formatFullPrice(markPrice)],
            ['Stop', level(stopLoss)],
            ['Target', level(takeProfit)],
            ['Liquidation', level(position.liquidationPrice)],
            ['Margin', formatMoney(position.margin)],
            ['Leverage', formatLeverage(position.leverage)],
          ]}
        />
      </Section>
      {exits ? (
        <Section spaced title="Exit plan">
          <ExitProgress exits={exits} token={token} />
        </Section>
      ) : null}
    </>
  );
}

/** Only a signal says which candles its position belongs to. */
function Price({ position }: { position: OpenPositionView }) {
  const { timeframe } = position;
  return timeframe === null ? (
    <EmptyState>No signal opened this position here, so no timeframe is known for a chart</EmptyState>
  ) : (
    <Candles position={position} timeframe={timeframe} />
  );
}

const CANDLES_SHOWN = 120;

function Candles({ position, timeframe }: { position: OpenPositionView; timeframe: string }) {
  const { token } = position;
  const params = { token, timeframe, limit: CANDLES_SHOWN };
  const query = useQuery<CandlesAnswer>({ queryKey: ['/api/price-logs/candles', params], staleTime: 0 });
  return (
    <QueryView query={query} errorTitle="Failed to fetch chart" loading={<CandleChartSkeleton />}>
      {({ candles }) => <Chart position={position} timeframe={timeframe} candles={candles} />}
    </QueryView>
  );
}

function Chart(props: { position: OpenPositionView; timeframe: string } & CandlesAnswer) {
  const { timeframe, candles } = props;
  const { token, side, entryPrice, stopLoss, takeProfit, openedAt } = props.position;
  const picture = useMemo(() => {
    const [first] = candles;
    // An opening before the first candle has no place in the picture.
    const isShown =
      openedAt !== null && first !== undefined && Date.parse(openedAt) >= Date.parse(first.time);
    return {
      token,
      timeframe,
      candles,
      mark: isShown
        ? {
            time: openedAt,
            price: entryPrice,
            text: 'Opened',
            direction: side === 'long' ? ('buy' as const) : ('sell' as const),
          }
        : null,
      endsAtLast: true,
      levels: { entryPrice, stopLoss, takeProfit },
      fills: [],
    };
  }, [token, timeframe, candles, side, entryPrice, stopLoss, takeProfit, openedAt]);
  return <CandleChart picture={picture} />;
}
