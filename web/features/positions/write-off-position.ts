import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { HiddenPositionView } from '#contract/positions.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { positionsPath } from './get-positions.ts';

export function useWriteOffPosition() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ tradeId }: Pick<HiddenPositionView, 'tradeId'>) =>
      requestJson<{ message: string }>(`${positionsPath}/write-off`, { method: 'POST', body: { tradeId } }),
    onSuccess: ({ message }) => toastSuccess({ title: 'Position Written Off', message }),
    onError: (error) =>
      toastError({
        title: 'Not written off',
        message: serverMessage(error, 'Failed to write the position off'),
      }),
    onSettled: () => client.invalidateQueries({ queryKey: [positionsPath] }),
  });
}
