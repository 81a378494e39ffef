import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ClosePositionAnswer } from '#contract/positions.ts';
import { requestJson } from '../../lib/api-client.ts';
import { positionsPath } from './get-positions.ts';

export interface PositionKey {
  userId: string;
  token: string;
}

export function useClosePosition() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ userId, token }: PositionKey) =>
      requestJson<ClosePositionAnswer>(`${positionsPath}/close`, { method: 'POST', body: { userId, token } }),
    // A failure says that the list may be out of date as well: the position may be closed nevertheless.
    onSettled: () => client.invalidateQueries({ queryKey: [positionsPath] }),
  });
}
