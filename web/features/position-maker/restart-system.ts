import { useMutation } from '@tanstack/react-query';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { positionMakerPath, useRefreshPositionMaker } from './get-position-maker.ts';

/** Resolves when the system runs again. */
export function useRestartSystem() {
  const refresh = useRefreshPositionMaker();
  return useMutation({
    mutationFn: () =>
      requestJson<{ message: string }>(`${positionMakerPath}/restart`, { method: 'POST', body: {} }),
    onSuccess: ({ message }) => toastSuccess({ title: 'System Restarted', message }),
    onError: (error) =>
      toastError({ title: 'Restart Failed', message: serverMessage(error, 'Failed to restart system') }),
    onSettled: refresh,
  });
}
