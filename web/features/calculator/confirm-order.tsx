import { Alert, Button, Group, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconCircleCheck, IconCircleX, IconRefresh } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import type { PreparedOrder } from '#contract/position-maker.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { ErrorState, LoadingState } from '../../ui/states.tsx';
import { toastError } from '../../ui/toast.ts';
import classes from './order.module.css';
import { OrderRunning } from './order-progress.tsx';
import { OrderTarget } from './order-target.tsx';
import { PreparationError, usePreparedOrder } from './prepare-order.ts';
import { OrderRequest, PreparedOrderView } from './prepared-order-view.tsx';
import { SafetyBanner } from './safety-banner.tsx';
import { type SubmitState, submitTip } from './submit-state.ts';

interface ConfirmOrderProps {
  positionGeneratorLogId: string;
  submitting: boolean;
  submitState: SubmitState;
  exchangeMode: ExchangeMode | undefined;
  calculatedMethod: SizingMethod | undefined;
  onConfirm: (customEntryPrice: string) => void;
  onClose: () => void;
}

const TYPING_PAUSE_MS = 400;

export function ConfirmOrder(props: ConfirmOrderProps) {
  const { positionGeneratorLogId, submitting, submitState, calculatedMethod } = props;
  const [entryPrice, setEntryPrice] = useState('');
  const [customEntryPrice] = useDebouncedValue(entryPrice, TYPING_PAUSE_MS);
  const prepared = usePreparedOrder({ positionGeneratorLogId, customEntryPrice, enabled: !submitting });
  const { data, error, isFetching } = prepared;
  useToastOf(error);

  if (data === undefined && !error) return <LoadingState label="Preparing order data..." />;
  // What is confirmed is what is shown: while another entry price is on its way, nothing is.
  const isCurrent = data !== undefined && !error && !isFetching && customEntryPrice === entryPrice;
  const faded = !isCurrent && !submitting;
  const blocked = submitTip(submitState, calculatedMethod) ?? blockedBy(data);
  return (
    <div className={classes.stack}>
      <SafetyBanner state={submitState} method={calculatedMethod} />
      {data && submitState !== 'live-mode' ? (
        <OrderTarget exchange={data.exchange} mode={props.exchangeMode} />
      ) : null}
      {data ? <PreAssessment {...data.validation.preAssessment} /> : null}
      {error ? (
        <ErrorState
          title={error instanceof PreparationError ? error.title : 'Order Preparation Failed'}
          error={error}
          onRetry={() => void prepared.refetch()}
          retrying={isFetching}
        />
      ) : null}
      {data ? <PreparedOrderView order={data} faded={faded} /> : null}
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
      {/* On the left: toasts stand over the right end of the dialog. */}
      <Group gap="sm" className={classes.footer} data-dialog-buttons>
        <span data-tip={blocked}>
          <Button
            disabled={submitting || !isCurrent || blocked !== undefined}
            onClick={() => props.onConfirm(entryPrice)}
          >
            {submitting ? 'Submitting Order...' : 'Confirm & Submit Order'}
          </Button>
        </span>
        <Button variant="default" onClick={props.onClose}>
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

const blockedBy = (order: PreparedOrder | undefined): string | undefined =>
  order?.validation.preAssessment.valid === false
    ? 'Order validation failed - check order parameters'
    : undefined;

function PreAssessment({ valid, reason }: { valid: boolean; reason: string | null }) {
  return valid ? (
    <Alert color="green" icon={<IconCircleCheck aria-hidden />} title="Pre-assessment passed">
      {reason ?? 'The order can be submitted.'}
    </Alert>
  ) : (
    <Alert color="red" icon={<IconCircleX aria-hidden />} title="Pre-assessment failed">
      {reason ?? 'No reason was given.'}
    </Alert>
  );
}

function useToastOf(error: Error | null): void {
  useEffect(() => {
    if (error instanceof PreparationError) toastError({ title: error.title, message: error.message });
  }, [error]);
}
