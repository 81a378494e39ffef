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
      {showsResult ? <Result {...props.byHand} /> : <Confirmation {...props} />}
    </Dialog>
  );
}

function Result({ order, submission }: Pick<OrderByHand, 'order' | 'submission'>) {
  if (order.data) return <OrderResultView order={order.data} />;
  const failure = submission && failureOf(submission);
  if (failure !== null) return <FailedSubmission failure={failure} />;
  if (order.isPending) return <LoadingState label="Loading order..." />;
  if (order.isError) return <OrderError order={order} />;
  return <EmptyState>No order was submitted for this calculation</EmptyState>;
}

function Confirmation(props: OrderDialogProps) {
  const { order, submitting, submit } = props.byHand;
  if (order.data) return <OrderProgress order={order.data} />;
  if (order.isPending) return <LoadingState label="Preparing order data..." />;
  if (order.isError && !submitting) return <OrderError order={order} />;
  return <ConfirmOrder {...props} submitting={submitting} onConfirm={submit} />;
}

function OrderError({ order }: Pick<OrderByHand, 'order'>) {
  return (
    <ErrorState
      title="Failed to fetch order"
      error={order.error}
      onRetry={() => void order.refetch()}
      retrying={order.isFetching}
    />
  );
}
