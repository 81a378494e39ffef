import { useNoticeOnLeaving, useOrder, useOutcomeOf } from './follow-order.ts';
import { useRefreshAccount } from './refresh-account.ts';
import { announceOrder, failureOf, useSubmitOrder } from './submit-order.ts';

/** The order of the calculation in the address: submitting it, and following it from wherever it was submitted. */
export function useOrderByHand(options: {
  calculationId: string | undefined;
  /** Only while this screen stands; elsewhere the toast alone tells the outcome. */
  showResult: () => void;
}) {
  const { calculationId, showResult } = options;
  const submission = useSubmitOrder();
  const isOfThis = submission.variables?.positionGeneratorLogId === calculationId;
  const submitting = submission.isPending && isOfThis;
  const failure = isOfThis ? failureOf(submission) : null;
  const order = useOrder(calculationId, { isExpected: submitting || failure?.inDoubt === true });
  const refreshAccount = useRefreshAccount();
  useOutcomeOf(order.data, {
    submitting,
    onDone: (done) => {
      announceOrder(done);
      refreshAccount();
    },
  });
  useNoticeOnLeaving({ running: submitting || order.data?.done === false });

  const submit = (customEntryPrice: string) => {
    if (calculationId === undefined) return;
    submission.mutate({ positionGeneratorLogId: calculationId, customEntryPrice }, { onSettled: showResult });
  };
  return { order, submitting, submit, failure };
}
