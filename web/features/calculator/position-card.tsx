import { Button } from '@mantine/core';
import { IconSend, IconShieldX } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { Badge } from '../../ui/badge.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState, LoadingState } from '../../ui/states.tsx';
import classes from './calculator.module.css';
import { SafetyBanner } from './order-notices.tsx';
import type { CalculationOutcome } from './run-calculation.ts';
import { SideBadge } from './signal-cards.tsx';
import { type SubmitState, submitTip } from './submit-state.ts';

const CalculatedPosition = lazy(async () => ({
  default: (await import('./calculation-cards.tsx')).CalculatedPosition,
}));

const OrderTarget = lazy(() => import('./order-target.tsx'));

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
        <Suspense fallback={<LoadingState />}>
          <CalculatedPosition answer={answer} price={outcome?.price} />
        </Suspense>
      ) : (
        <EmptyState>
          {isForgotten
            ? 'The figures of this calculation are not on this page any more: calculate again, prices move on'
            : 'Calculate to see the position parameters'}
        </EmptyState>
      )}
      <div className={classes.submit}>
        <SafetyBanner state={submitState} method={method} />
        {submitState === 'ready' ? (
          <Suspense fallback={null}>
            <OrderTarget exchange={props.exchange} mode={props.exchangeMode} />
          </Suspense>
        ) : null}
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
