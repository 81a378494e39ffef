import { Button } from '@mantine/core';
import { IconSend, IconShieldX } from '@tabler/icons-react';
import type { CalculatedPosition } from '#contract/position-generator.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { formatDecimals, formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { ExactDecimals } from '../../ui/exact-decimals.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState } from '../../ui/states.tsx';
import classes from './calculator.module.css';
import { EstimateNotice, OrderTarget, SafetyBanner } from './order-notices.tsx';
import type { CalculationOutcome } from './run-calculation.ts';
import { SideBadge } from './signal-cards.tsx';
import { type SubmitState, submitTip } from './submit-state.ts';

interface PositionCardProps {
  outcome: CalculationOutcome | undefined;
  /** The URL names a calculation whose figures this page does not have. */
  isForgotten: boolean;
  submitState: SubmitState;
  exchange: string;
  exchangeMode: ExchangeMode | undefined;
  onSubmitOrder: () => void;
}

export function PositionCard(props: PositionCardProps) {
  const { outcome, isForgotten, submitState, onSubmitOrder } = props;
  const answer = outcome?.answer.success ? outcome.answer : null;
  const method = answer?.position.method;
  const tip = submitTip(submitState, method);
  const SubmitIcon = submitState === 'unprotected' ? IconShieldX : IconSend;
  return (
    <Panel
      title="Position Parameters"
      aside={
        answer ? (
          <>
            {submitState === 'outdated' ? <Badge tone="warning">Outdated</Badge> : null}
            <SideBadge action={answer.position.position} />
          </>
        ) : null
      }
    >
      {answer ? (
        <div className={classes.stack}>
          {answer.isEstimate ? <EstimateNotice>{answer.message}</EstimateNotice> : null}
          <PositionFacts position={answer.position} />
          <p className={classes.note}>
            <strong>{outcome?.price.title}:</strong> {outcome?.price.text}
          </p>
        </div>
      ) : (
        <EmptyState>
          {isForgotten
            ? 'The figures of this calculation are not on this page any more: calculate again, prices move on'
            : 'Calculate to see the position parameters'}
        </EmptyState>
      )}
      <div className={classes.submit}>
        <SafetyBanner state={submitState} method={method} />
        {submitState === 'ready' ? <OrderTarget exchange={props.exchange} mode={props.exchangeMode} /> : null}
        <span data-tip={tip}>
          <Button
            leftSection={<SubmitIcon size={16} aria-hidden />}
            variant={submitState === 'ready' ? 'filled' : 'default'}
            disabled={tip !== undefined}
            onClick={onSubmitOrder}
          >
            {submitState === 'unprotected' ? 'Missing SL/TP - Cannot Submit' : 'Submit Order'}
          </Button>
        </span>
      </div>
    </Panel>
  );
}

function PositionFacts({ position }: { position: CalculatedPosition }) {
  const trend = position.aligned ? 'aligned with' : 'opposed to';
  return (
    <Facts
      facts={[
        ['Sizing Method', position.method],
        ['Entry Price', <ExactDecimals key="entry" value={position.entryPrice} />],
        ['Stop Loss', <ExactDecimals key="stop" value={position.stopLoss} />],
        ['Take Profit', <ExactDecimals key="target" value={position.takeProfit} />],
        ['Risk %', formatFraction(position.riskPercentage, 2)],
        ['Investment', formatPrice(position.investment)],
        ['Investment Portion', formatFraction(position.investmentPortion, 1)],
        ['Leverage', `${formatLeverage(position.leverage)} (${trend} the trend)`],
        ['Quantity (USDT)', formatPrice(position.quantity)],
        ['Asset Quantity', `${formatDecimals(position.assetQuantity, 6)} ${position.token}`],
        ['Reference Price', `${position.referencePrice} (${position.priceSource})`],
        [
          'ATR',
          position.atr === null ? 'none' : <ExactDecimals key="atr" value={position.atr} decimals={2} />,
        ],
        ['Available Balance', formatPrice(position.availableBalance)],
      ]}
    />
  );
}
