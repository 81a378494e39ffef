import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useState, useSyncExternalStore } from 'react';
import { createLiveUpdates, type LiveState, type LiveUpdates } from './live-updates.ts';

const LiveContext = createContext<LiveUpdates | null>(null);

const CONNECTING: LiveState = { connection: 'connecting', paused: false, missed: false };
const subscribeToNothing = () => () => {};
const getConnecting = () => CONNECTING;

/** Live updates for the screens below it, for as long as it is there. */
export function LiveProvider({ children }: { children: ReactNode }) {
  const client = useQueryClient();
  const [updates, setUpdates] = useState<LiveUpdates | null>(null);
  useEffect(() => {
    const started = createLiveUpdates(client);
    setUpdates(started);
    return () => started.stop();
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
