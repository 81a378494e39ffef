import { useQuery } from '@tanstack/react-query';
import type { MyTradingHaltsAnswer, TradingHaltsAnswer } from '#contract/trading-halts.ts';

export const haltsPath = '/api/admin/trading-halts';

/** Of all users; administrators only. Every change of it is announced, so nothing is polled. */
export const useTradingHalts = () => useQuery<TradingHaltsAnswer>({ queryKey: [haltsPath] });

/** Administrators see the halts of all users, others their own. */
export const useShownHalts = ({ isAdmin }: { isAdmin: boolean }) =>
  useQuery<MyTradingHaltsAnswer>({ queryKey: [isAdmin ? haltsPath : '/api/my-trading-halts'] });
