import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useState } from 'react';
import { createStore } from '../store.ts';
import type { LiveState, LiveUpdates } from './live-updates.ts';

const withoutUpdates = (connection: LiveState['connection']): LiveUpdates => ({
  state: createStore<LiveState>({ connection, paused: false, missed: false }),
  setPaused() {},
  stop() {},
});
const CONNECTING = withoutUpdates('connecting');
/** Used when the update code cannot be loaded, so that the screens show updates as down. */
const DOWN = withoutUpdates('down');

const LiveContext = createContext(CONNECTING);

export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [updates, setUpdates] = useState(CONNECTING);
  useEffect(() => {
    let started: LiveUpdates | null = null;
    let left = false;
    import('./live-updates.ts').then(
      ({ createLiveUpdates }) => {
        if (left) return;
        started = createLiveUpdates(client);
        setUpdates(started);
      },
      () => setUpdates(DOWN),
    );
    return () => {
      left = true;
      started?.stop();
    };
  }, [client]);
  return <LiveContext value={updates}>{children}</LiveContext>;
}

export function useLive(): LiveState & Pick<LiveUpdates, 'setPaused'> {
  const { state, setPaused } = use(LiveContext);
  return { ...state.use(), setPaused };
}

/** The poll interval in milliseconds; false while the screen is paused. */
export function usePoll(everyMs: number): number | false {
  return useLive().paused ? false : everyMs;
}

/**
 * Cache options for data that initialises a form. While changes are announced, it is refetched only after a change;
 * without a stream, or while paused, each opening of the screen refetches it.
 */
export function useKeptWhileLive(): { staleTime: number; gcTime: number } {
  const { connection, paused } = useLive();
  const isTold = connection === 'live' && !paused;
  return { staleTime: isTold ? Number.POSITIVE_INFINITY : 0, gcTime: Number.POSITIVE_INFINITY };
}
