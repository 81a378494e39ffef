import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { ConfirmOrder } from './confirm-order.tsx';
import type { OrderByHand } from './order-by-hand.ts';
import { FailedSubmission, OrderProgress, OrderResultView } from './order-result.tsx';
import { failureOf } from './submit-order.ts';
import type { SubmitState } from './submit-state.ts';

interface OrderDialogProps {
  positionGeneratorLogId: string;
  /** The dialog requested by the URL; a finished order shows its result either way. */
  dialog: 'order' | 'result';
  byHand: OrderByHand;
  submitState: SubmitState;
  exchangeMode: ExchangeMode | undefined;
  username: string;
  /** Undefined when this page does not know it. */
  calculatedMethod: SizingMethod | undefined;
  onClose: () => void;
}

export default function OrderDialog(props: OrderDialogProps) {
  const { order, submitting } = props.byHand;
  const showsResult = order.data?.done || (props.dialog === 'result' && !order.data && !submitting);
  return (
    <Dialog
      opened
      onClose={props.onClose}
      size={860}
      title={showsResult ? 'Order Submission Result' : 'Position Maker - Order Confirmation'}
    >
      <Content {...props} />
    </Dialog>
  );
}

function Content(props: OrderDialogProps) {
  const { order, submission, submitting, submit } = props.byHand;
  const confirms = props.dialog === 'order';
  if (order.data)
    return order.data.done ? <OrderResultView order={order.data} /> : <OrderProgress order={order.data} />;
  const failure = !confirms && submission ? failureOf(submission) : null;
  if (failure !== null && !submitting) return <FailedSubmission failure={failure} />;
  if (order.isPending)
    return <LoadingState label={confirms ? 'Preparing order data...' : 'Loading order...'} />;
  if (order.isError && !submitting) {
    return (
      <ErrorState
        title="Failed to fetch order"
        error={order.error}
        onRetry={() => void order.refetch()}
        retrying={order.isFetching}
      />
    );
  }
  if (confirms || submitting) return <ConfirmOrder {...props} submitting={submitting} onConfirm={submit} />;
  return <EmptyState>No order was submitted for this calculation</EmptyState>;
}
