import { useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useRef } from 'react';
import type { OrderResult } from '#contract/position-maker.ts';
import { requestJson } from '../../lib/api-client.ts';
import { toastSuccess } from '../../ui/toast.ts';

const ordersPath = '/api/position-maker/orders';
const POLL_MS = 1_000;

export const orderKey = (positionGeneratorLogId: string) => [ordersPath, { positionGeneratorLogId }] as const;

/** The order of a calculation as far as it has come; live events tell of each stage, and while it runs or is expected a poll too. */
export function useOrder(
  positionGeneratorLogId: string | undefined,
  { isExpected }: { isExpected: boolean },
) {
  const params = { positionGeneratorLogId };
  return useQuery({
    queryKey: orderKey(positionGeneratorLogId ?? ''),
    queryFn: ({ signal }) => requestJson<{ order: OrderResult | null }>(ordersPath, { params, signal }),
    select: ({ order }) => order,
    enabled: positionGeneratorLogId !== undefined,
    refetchInterval: ({ state: { data } }) =>
      (isExpected && !data?.order) || data?.order?.done === false ? POLL_MS : false,
    staleTime: 0,
  });
}

/** For an order that outlived its request, or that another tab submitted: its end is told here as well. */
export function useOutcomeOf(
  order: OrderResult | null | undefined,
  { submitting, onDone }: { submitting: boolean; onDone: (order: OrderResult) => void },
): void {
  const followed = useRef<string>(undefined);
  const tell = useEffectEvent((done: OrderResult) => {
    if (!submitting) onDone(done);
  });
  useEffect(() => {
    if (!order) return;
    if (!order.done) followed.current = order.tradeId;
    else if (followed.current === order.tradeId) {
      followed.current = undefined;
      tell(order);
    }
  }, [order]);
}

/** Whoever leaves while an order runs learns that nothing stops. */
export function useNoticeOnLeaving({ running }: { running: boolean }): void {
  const notice = useEffectEvent(() => {
    if (!running) return;
    toastSuccess({
      title: 'Order Still Running',
      message: 'Leaving the calculator stops nothing: the order goes on, and coming back shows its outcome.',
    });
  });
  useEffect(() => () => notice(), []);
}
