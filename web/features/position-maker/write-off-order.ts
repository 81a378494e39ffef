import { useMutation } from '@tanstack/react-query';
import type { OrderInDoubt, OrderResult } from '#contract/position-maker.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { positionMakerPath, useRefreshPositionMaker } from './get-position-maker.ts';

export function useWriteOffOrder() {
  const refresh = useRefreshPositionMaker();
  return useMutation({
    mutationFn: ({ tradeId }: OrderInDoubt) =>
      requestJson<OrderResult>(`${positionMakerPath}/orders/${tradeId}/write-off`, {
        method: 'POST',
        body: {},
      }),
    onSuccess: (_order, { token, username }) =>
      toastSuccess({
        title: 'Order Written Off',
        message: `What became of the ${token} order of ${username} stays unknown.`,
      }),
    onError: (error) =>
      toastError({
        title: 'Not written off',
        message: serverMessage(error, 'Failed to write the order off'),
      }),
    onSettled: refresh,
  });
}
