import { Button, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconRefresh } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { PrepareAnswer, PreparedOrder } from '#contract/position-maker.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { formatDecimals, formatFraction, formatLeverage, formatPrice } from '../../lib/format.ts';
import { ExactDecimals } from '../../ui/exact-decimals.tsx';
import { Facts } from '../../ui/facts.tsx';
import { JsonView } from '../../ui/json-view.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { SideBadge, TokenBadge } from '../../ui/trading-badges.tsx';
import { useErrorToast } from '../../ui/use-error-toast.ts';
import classes from './order.module.css';
import { OrderTarget, SafetyBanner } from './order-notices.tsx';
import { OrderRunning } from './order-result.tsx';
import { OrderSummary } from './order-summary.tsx';
import { NO_POSITION_DATA, type SubmitState, submitTip } from './submit-state.ts';

const CalculationExits = lazily(() => import('#web/forms/exits/calculation-exits.tsx'));

interface ConfirmOrderProps {
  positionGeneratorLogId: string;
  submitting: boolean;
  submitState: SubmitState;
  exchangeMode: ExchangeMode | undefined;
  /** For whom the order is. */
  username: string;
  calculatedMethod: SizingMethod | undefined;
  onConfirm: (customEntryPrice: string) => void;
  onClose: () => void;
}

const TYPING_PAUSE_MS = 400;

export function ConfirmOrder(props: ConfirmOrderProps) {
  const { positionGeneratorLogId, submitting, submitState, calculatedMethod } = props;
  const [entryPrice, setEntryPrice] = useState('');
  const [customEntryPrice] = useDebouncedValue(entryPrice, TYPING_PAUSE_MS);
  const prepared = usePreparedOrder(positionGeneratorLogId, customEntryPrice, { enabled: !submitting });
  const { data, error, isFetching } = prepared;
  const cancel = useRef<HTMLButtonElement>(null);
  const isShown = data !== undefined;
  // An Enter too many must not send the order.
  useEffect(() => {
    if (isShown) cancel.current?.focus();
  }, [isShown]);
  const failureTitle = typeof error?.cause === 'string' ? error.cause : PREPARATION_FAILED;
  useErrorToast(prepared, failureTitle);

  if (data === undefined && !error) return <LoadingState label="Preparing order data..." />;
  // Only the displayed order can be confirmed, so confirming is blocked while another entry price is being prepared.
  const isCurrent = data !== undefined && !error && !isFetching && customEntryPrice === entryPrice;
  const faded = !isCurrent && !submitting;
  const isRefused = data?.validation.preAssessment.valid === false;
  const blocked =
    submitTip(submitState, calculatedMethod) ??
    (isRefused ? 'Order validation failed - check order parameters' : undefined);
  return (
    <div className={classes.stack}>
      {data ? (
        <div data-faded={faded || undefined} className={classes.stack}>
          <OrderSummary order={data} username={props.username} mode={props.exchangeMode} />
        </div>
      ) : null}
      <SafetyBanner state={submitState} method={calculatedMethod} />
      {data && submitState !== 'live-mode' ? (
        <OrderTarget exchange={data.exchange} mode={props.exchangeMode} />
      ) : null}
      {data ? (
        <Notice
          look={isRefused ? 'failure' : 'info'}
          title={`Pre-assessment ${isRefused ? 'failed' : 'passed'}`}
        >
          {data.validation.preAssessment.reason ??
            (isRefused ? 'No reason was given.' : 'The order can be submitted.')}
        </Notice>
      ) : null}
      {error ? (
        <ErrorState
          title={failureTitle}
          error={error}
          onRetry={() => void prepared.refetch()}
          retrying={isFetching}
        />
      ) : null}
      {data ? <OrderFacts order={data} faded={faded} /> : null}
      {data ? (
        <div data-faded={faded || undefined} className={classes.stack}>
          <CalculationExits
            calculationId={positionGeneratorLogId}
            token={data.positionDetails.token}
            entryPrice={data.positionDetails.entryPrice}
            quantity={data.positionDetails.assetQuantity}
          />
        </div>
      ) : null}
      {data || entryPrice !== '' ? (
        <TextInput
          className={classes.custom ?? ''}
          type="number"
          step="0.00000001"
          min="0"
          label="Custom Entry Price (optional)"
          description="For testing: replaces the calculated entry price, within 1% of the live price. Stop loss and take profit stay; quantity and risk are computed again."
          placeholder={data?.positionDetails.entryPrice ?? ''}
          value={entryPrice}
          disabled={submitting}
          onChange={(event) => setEntryPrice(event.currentTarget.value)}
        />
      ) : null}
      {data ? <OrderRequest order={data} faded={faded} /> : null}
      {submitting ? <OrderRunning /> : null}
      {/* On the left, because toasts cover the right end of the dialog. */}
      <Group gap="sm" className={classes.footer} data-dialog-buttons>
        <span data-tip={blocked}>
          <Button
            disabled={submitting || !isCurrent || blocked !== undefined}
            onClick={() => props.onConfirm(entryPrice)}
          >
            {submitting ? 'Submitting Order...' : 'Confirm & Submit Order'}
          </Button>
        </span>
        <Button ref={cancel} variant="default" onClick={props.onClose}>
          {submitting ? 'Close' : 'Cancel'}
        </Button>
        {submitting ? null : (
          <Button
            variant="subtle"
            leftSection={<IconRefresh size={16} aria-hidden />}
            disabled={isFetching}
            onClick={() => void prepared.refetch()}
          >
            {isFetching ? 'Checking...' : 'Check again'}
          </Button>
        )}
      </Group>
    </div>
  );
}

function OrderFacts({ order, faded }: { order: PreparedOrder; faded: boolean }) {
  const { positionDetails: details, userSettings, inputParameters } = order;
  return (
    <div className={classes.stack} data-faded={faded || undefined} aria-busy={faded || undefined}>
      <Facts
        facts={[
          ['Token', <TokenBadge key="token" token={details.token} />],
          ['Action', <SideBadge key="action" shout side={details.action} />],
          ['Entry Price', <ExactDecimals key="entry" value={details.entryPrice} />],
          ['Leverage', formatLeverage(details.leverage)],
          ['Stop Loss', <ExactDecimals key="stop" value={details.stopLoss} />],
          ['Take Profit', <ExactDecimals key="target" value={details.takeProfit} />],
          ['Quantity (USDT)', formatPrice(details.quantity)],
          ['Asset Quantity', `${formatDecimals(details.assetQuantity, 6)} ${details.token}`],
          ['Investment', formatPrice(details.investment)],
          ['Risk %', formatFraction(details.riskPercentage, 2)],
          ['Exchange', order.exchange],
          ['Active Trading', userSettings.activeTrading ? 'On' : 'Off'],
          ['Sizing Method', inputParameters.positionSizingMethod],
          ['Market Type', inputParameters.marketType],
          ['Calculation Behavior', inputParameters.calculationBehavior],
        ]}
      />
    </div>
  );
}

function OrderRequest({ order, faded }: { order: PreparedOrder; faded: boolean }) {
  return (
    <details className={classes.technical} data-faded={faded || undefined}>
      <summary>Technical details</summary>
      <div className={classes.stack}>
        <Section title="API Endpoint">
          <div className={`mono ${classes.endpoint}`}>{order.apiEndpoint}</div>
        </Section>
        <Section title="Order Payload">
          <JsonView value={order.orderPayload} label="Order Payload" />
        </Section>
      </div>
    </details>
  );
}

const PREPARATION_FAILED = 'Order Preparation Failed';
const FAILED_TEXT = 'Failed to prepare order data.';

/** Refusals with their own title. */
const OWN_TITLES = [NO_POSITION_DATA.title, 'SAFETY VIOLATION'];

/**
 * The order as it would be submitted now, with its pre-assessment; prepared again at every opening. The query key is
 * not the API path: otherwise any order change would prepare it again, with three requests to the exchange.
 */
function usePreparedOrder(
  positionGeneratorLogId: string,
  customEntryPrice: string,
  options: { enabled: boolean },
) {
  const custom = customEntryPrice === '' ? {} : { customEntryPrice };
  return useQuery({
    queryKey: ['prepared-order', { positionGeneratorLogId, ...custom }] as const,
    queryFn: ({ queryKey: [, body], signal }) => prepare(body, signal),
    ...options,
    // Keep the previous entry price's figures until the new ones arrive, but never those of another calculation.
    placeholderData: (former, query) =>
      query?.queryKey[1].positionGeneratorLogId === positionGeneratorLogId ? former : undefined,
    staleTime: 0,
    gcTime: 0,
  });
}

async function prepare(
  body: { positionGeneratorLogId: string; customEntryPrice?: string },
  signal: AbortSignal,
): Promise<PreparedOrder> {
  const answer = await requestJson<PrepareAnswer>('/api/position-maker/prepare', {
    method: 'POST',
    body,
    signal,
  }).catch((error: unknown) => {
    throw new Error(serverMessage(error, (error instanceof Error && error.message) || FAILED_TEXT));
  });
  if (!answer.success) {
    const title = OWN_TITLES.includes(answer.error) ? answer.error : PREPARATION_FAILED;
    throw new Error(answer.message || FAILED_TEXT, { cause: title });
  }
  // lib/complete-answer.ts fills missing fields with empty texts; without a quantity there is no order.
  if (answer.data.positionDetails.quantity === '') {
    throw new Error('No order data prepared. Please try again.');
  }
  return answer.data;
}
