import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { OrderResult } from '#contract/position-maker.ts';
import { toastSuccess } from '../../ui/toast.ts';
import { refreshAccount, useOrder } from './calculator-data.ts';
import { isInDoubt } from './request-failures.ts';
import type { Submission } from './submit-order.ts';

const load = () => import('./submit-order.ts');

export type OrderByHand = ReturnType<typeof useOrderByHand>;

/** The order of the calculation in the URL: submits it, and follows it even if another tab submitted it. */
export function useOrderByHand(options: {
  calculationId: string | undefined;
  /** Called only while this screen is mounted; elsewhere the toast shows the outcome. */
  showResult: () => void;
}) {
  const { calculationId, showResult } = options;
  const client = useQueryClient();
  // Leaving the screen neither cancels the request nor suppresses its toast.
  const submission = useMutation({
    mutationFn: async (variables: Submission) => (await load()).submitOrder(client, variables),
  });
  const isOfThis = submission.variables?.positionGeneratorLogId === calculationId;
  const submitting = submission.isPending && isOfThis;
  const isExpected = submitting || (isOfThis && submission.error !== null && isInDoubt(submission.error));
  const order = useOrder(calculationId, { isExpected });
  useOutcomeToast(order.data, { submitting });
  useNoticeOnLeaving({ running: submitting || order.data?.done === false });

  const submit = (customEntryPrice: string) => {
    if (calculationId === undefined) return;
    submission.mutate({ positionGeneratorLogId: calculationId, customEntryPrice }, { onSettled: showResult });
  };
  return { order, submitting, submit, submission: isOfThis ? submission : null };
}

/** Announces when an order finishes that outlived its request or was submitted by another tab. */
function useOutcomeToast(order: OrderResult | null | undefined, { submitting }: { submitting: boolean }) {
  const client = useQueryClient();
  const followed = useRef<string>(undefined);
  const announce = useEffectEvent(async (done: OrderResult) => {
    if (submitting) return;
    (await load()).announceOrder(done);
    await refreshAccount(client);
  });
  useEffect(() => {
    if (!order) return;
    if (!order.done) followed.current = order.tradeId;
    else if (followed.current === order.tradeId) {
      followed.current = undefined;
      void announce(order);
    }
  }, [order]);
}

/** Tells a user who leaves while an order runs that the order continues. */
function useNoticeOnLeaving({ running }: { running: boolean }) {
  const notice = useEffectEvent(() => {
    if (!running) return;
    toastSuccess({
      title: 'Order Still Running',
      message: 'Leaving the calculator stops nothing: the order goes on, and coming back shows its outcome.',
    });
  });
  useEffect(() => () => notice(), []);
}
