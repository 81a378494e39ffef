import { useQuery } from '@tanstack/react-query';
import type { MyTradingHaltsAnswer, TradingHaltsAnswer } from '#contract/trading-halts.ts';

export const haltsPath = '/api/admin/trading-halts';

/** Halts of all users, for administrators only. Not polled, because every change is announced. */
export const useTradingHalts = () => useQuery<TradingHaltsAnswer>({ queryKey: [haltsPath] });

/** Administrators see the halts of all users, others their own. */
export const useShownHalts = ({ isAdmin }: { isAdmin: boolean }) =>
  useQuery<MyTradingHaltsAnswer>({ queryKey: [isAdmin ? haltsPath : '/api/my-trading-halts'] });
