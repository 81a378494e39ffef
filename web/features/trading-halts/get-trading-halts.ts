import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { MyTradingHaltsAnswer, TradingHaltsAnswer, TradingHaltView } from '#contract/trading-halts.ts';
import { requestJson } from '../../lib/api-client.ts';

const haltsPath = '/api/admin/trading-halts';
const myHaltsPath = '/api/my-trading-halts';

/** Of all users; administrators only. Every change of it is announced, so nothing is polled. */
export const useTradingHalts = () =>
  useQuery({
    queryKey: [haltsPath],
    queryFn: ({ signal }) => requestJson<TradingHaltsAnswer>(haltsPath, { signal }),
  });

/** What the signed-in user is to know of: an administrator of everybody's, others of their own. */
export const useShownHalts = ({ isAdmin }: { isAdmin: boolean }) => {
  const path = isAdmin ? haltsPath : myHaltsPath;
  return useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => requestJson<MyTradingHaltsAnswer>(path, { signal }),
  });
};

export function useResumeTrading() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) =>
      requestJson<TradingHaltView>(`${haltsPath}/${id}/resume`, { method: 'POST', body: {} }),
    // A refusal says that the list is out of date as well.
    onSettled: () => client.invalidateQueries({ queryKey: [haltsPath] }),
  });
}
