import { useQuery } from '@tanstack/react-query';
import type { CloseAllRun } from '#contract/close-all.ts';
import type { TradingStopView } from '#contract/trading-stops.ts';
import type { StopKind } from '#domain/orders/trading-stop.ts';
import { createStore } from './store.ts';

export const stopsPath = '/api/trading-stops';
export const closeAllPath = '/api/positions/close-all';

/** The active stops of new entries, and pauses, that concern the signed-in user. */
export const useTradingStops = () => useQuery<TradingStopView[]>({ queryKey: [stopsPath] });

/** Closings of all positions that run, have failed positions or ended a moment ago. */
export const useCloseAllRuns = ({ enabled }: { enabled: boolean }) =>
  useQuery<CloseAllRun[]>({ queryKey: [closeAllPath], enabled });

/** The dialog of the Stop menu that is open; a menu, a row or the palette opens it. `value` null: to be chosen. */
export interface StopRequest {
  action: 'stop' | 'close-all';
  kind: StopKind;
  value: string | null;
}
export const stopDialog = createStore<StopRequest | null>(null);
