import { Button } from '@mantine/core';
import { IconSend, IconShieldX } from '@tabler/icons-react';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { Badge } from '../../ui/badge.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { SideBadge } from '../../ui/trading-badges.tsx';
import classes from './calculator.module.css';
import { EstimateNotice, OrderTarget, SafetyBanner } from './order-notices.tsx';
import type { CalculationOutcome } from './run-calculation.ts';
import { type SubmitState, submitTip } from './submit-state.ts';

export const PositionFacts = lazily(() => import('./position-facts.tsx'));
const CalculationExits = lazily(() => import('#web/forms/exits/calculation-exits.tsx'));

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
            <SideBadge shout side={answer.position.position} />
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
      {/* Below the button, which would move under the pointer while the plan loads. */}
      {answer ? (
        <CalculationExits
          spaced
          calculationId={answer.positionGeneratorLogId}
          token={answer.position.token}
          entryPrice={answer.position.entryPrice}
          quantity={answer.position.assetQuantity}
        />
      ) : null}
    </Panel>
  );
}
