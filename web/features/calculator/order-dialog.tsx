import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState, ErrorState, LoadingState } from '../../ui/states.tsx';
import { ConfirmOrder } from './confirm-order.tsx';
import type { useOrder } from './follow-order.ts';
import { OrderProgress } from './order-progress.tsx';
import { FailedSubmission, OrderResultView } from './order-result-view.tsx';
import type { SubmissionFailure } from './submit-order.ts';
import type { SubmitState } from './submit-state.ts';

interface OrderDialogProps {
  positionGeneratorLogId: string;
  /** What the address asks for; an order that is done shows its result either way. */
  dialog: 'order' | 'result';
  order: ReturnType<typeof useOrder>;
  submitting: boolean;
  /** Why the last submission left no order. */
  failure: SubmissionFailure | null;
  submitState: SubmitState;
  exchangeMode: ExchangeMode | undefined;
  /** Undefined when the page does not know it. */
  calculatedMethod: SizingMethod | undefined;
  onConfirm: (customEntryPrice: string) => void;
  onClose: () => void;
}

export default function OrderDialog(props: OrderDialogProps) {
  const { dialog, order, failure, onClose } = props;
  const isDone = order.data?.done === true;
  const showsResult = isDone || (dialog === 'result' && !order.data && !props.submitting);
  return (
    <Dialog
      opened
      onClose={onClose}
      size={860}
      title={showsResult ? 'Order Submission Result' : 'Position Maker - Order Confirmation'}
    >
      {showsResult ? <Result order={order} failure={failure} /> : <Confirmation {...props} />}
    </Dialog>
  );
}

function Result({ order, failure }: Pick<OrderDialogProps, 'order' | 'failure'>) {
  if (order.data) return <OrderResultView order={order.data} />;
  if (failure !== null) return <FailedSubmission failure={failure} />;
  if (order.isPending) return <LoadingState label="Loading order..." />;
  if (order.isError) return <OrderError order={order} />;
  return <EmptyState>No order was submitted for this calculation</EmptyState>;
}

function Confirmation(props: OrderDialogProps) {
  const { order, positionGeneratorLogId, submitting, onConfirm, onClose } = props;
  if (order.data) return <OrderProgress order={order.data} />;
  if (order.isPending) return <LoadingState label="Preparing order data..." />;
  if (order.isError && !submitting) return <OrderError order={order} />;
  return (
    <ConfirmOrder
      positionGeneratorLogId={positionGeneratorLogId}
      submitting={submitting}
      submitState={props.submitState}
      exchangeMode={props.exchangeMode}
      calculatedMethod={props.calculatedMethod}
      onConfirm={onConfirm}
      onClose={onClose}
    />
  );
}

function OrderError({ order }: Pick<OrderDialogProps, 'order'>) {
  return (
    <ErrorState
      title="Failed to fetch order"
      error={order.error}
      onRetry={() => void order.refetch()}
      retrying={order.isFetching}
    />
  );
}
