import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from 'react';
import type { LiveState, LiveUpdates } from './live-updates.ts';

const LiveContext = createContext<LiveUpdates | null>(null);

const CONNECTING: LiveState = { connection: 'connecting', paused: false, missed: false };
const subscribeToNothing = () => () => {};
/** Its code could not be loaded: the screens say that nothing comes by itself. */
const DOWN: LiveState = { connection: 'down', paused: false, missed: false };
const NEVER: LiveUpdates = {
  subscribe: subscribeToNothing,
  getState: () => DOWN,
  setPaused() {},
  stop() {},
};
const getConnecting = () => CONNECTING;

/** Live updates for the screens below it, for as long as it is there. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [updates, setUpdates] = useState<LiveUpdates | null>(null);
  useEffect(() => {
    let started: LiveUpdates | null = null;
    let left = false;
    // No screen waits for it.
    import('./live-updates.ts').then(
      ({ createLiveUpdates }) => {
        if (left) return;
        started = createLiveUpdates(client);
        setUpdates(started);
      },
      () => setUpdates(NEVER),
    );
    return () => {
      left = true;
      started?.stop();
    };
  }, [client]);
  return <LiveContext value={updates}>{children}</LiveContext>;
}

export function useLive(): LiveState & { setPaused: (paused: boolean) => void } {
  const updates = use(LiveContext);
  const state = useSyncExternalStore(
    updates?.subscribe ?? subscribeToNothing,
    updates?.getState ?? getConnecting,
  );
  return { ...state, setPaused: (paused) => updates?.setPaused(paused) };
}

/** The interval of a poll that the specification names; none while the operator has paused the screen. */
export function usePoll(everyMs: number): number | false {
  return useLive().paused ? false : everyMs;
}

/**
 * For data that a form starts from. While changes are announced it is fetched once and again only after a change. While
 * they are not (no stream, or paused), each opening of the screen fetches it.
 */
export function useKeptWhileLive(): { staleTime: number; gcTime: number } {
  const { connection, paused } = useLive();
  const isTold = connection === 'live' && !paused;
  return { staleTime: isTold ? Number.POSITIVE_INFINITY : 0, gcTime: Number.POSITIVE_INFINITY };
}
