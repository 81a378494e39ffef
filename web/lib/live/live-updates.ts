import type { Query, QueryClient } from '@tanstack/react-query';
import type { SessionAnswer } from '#contract/auth.ts';
import type { Change } from '#contract/events.ts';
import { lookUpSession, sessionKey } from '../session.ts';
import { createStore, type Store } from '../store.ts';
import { isAffected, isLive } from './change-targets.ts';

export interface LiveState {
  connection: 'connecting' | 'live' | 'down';
  paused: boolean;
  /** Something changed during the pause. */
  missed: boolean;
}

export interface LiveUpdates {
  state: Store<LiveState>;
  setPaused(paused: boolean): void;
  stop(): void;
}

const EVENTS_PATH = '/api/events';
/** Silence that counts as a lost stream: two heartbeats of the server. */
const SILENCE_MS = 25_000;
/** The shortest time between two refetches. */
const BETWEEN_FETCHES_MS = 400;
const RECONNECT_MS = [1_000, 2_000, 5_000, 10_000] as const;
/** Hidden pages disconnect after this time, because browsers limit connections per server. */
const HIDDEN_LIMIT_MS = 10_000;
/** How often screens refetch while the stream is down. */
const POLL_MS = 30_000;

/** Listens for server changes and refetches the affected queries while a user is signed in. */
export function createLiveUpdates(client: QueryClient): LiveUpdates {
  const userId = client.getQueryData<SessionAnswer | null>(sessionKey)?.user.id;
  const state = createStore<LiveState>({ connection: 'connecting', paused: false, missed: false });
  let source: EventSource | null = null;
  let failures = 0;
  let hasConnected = false;
  let stopped = false;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let fetching: ReturnType<typeof setTimeout> | undefined;
  let waiting: Change[] = [];
  let lastFetchAt = 0;

  const set = (change: Partial<LiveState>) => state.set({ ...state.get(), ...change });

  function connect(): void {
    clearTimeout(retry);
    disconnect();
    if (stopped || document.hidden) return;
    const mine = new EventSource(EVENTS_PATH, { withCredentials: true });
    source = mine;
    mine.addEventListener('ready', () => {
      failures = 0;
      heard();
      set({ connection: 'live' });
      refetchAll({ failedToo: hasConnected });
      hasConnected = true;
    });
    mine.addEventListener('changes', ({ data }: MessageEvent<string>) => {
      heard();
      add(JSON.parse(data) as Change[]);
    });
    mine.addEventListener('gap', () => {
      heard();
      refetchAll({ failedToo: true });
    });
    mine.addEventListener('beat', heard);
    mine.addEventListener('error', () => {
      if (source === mine) lost();
    });
    heard();
  }

  function disconnect(): void {
    source?.close();
    source = null;
    clearTimeout(silence);
  }

  function heard(): void {
    clearTimeout(silence);
    silence = setTimeout(lost, SILENCE_MS);
  }

  function lost(): void {
    disconnect();
    set({ connection: 'down' });
    const waitMs = RECONNECT_MS[Math.min(failures, RECONNECT_MS.length - 1)];
    failures += 1;
    clearTimeout(retry);
    retry = setTimeout(() => void reconnect(), waitMs);
  }

  /**
   * Looks up the session before reconnecting: a lost stream may mean that it has ended or belongs to another user.
   * Other screens then replace these and end their updates.
   */
  async function reconnect(): Promise<void> {
    clearTimeout(retry);
    try {
      const session = await lookUpSession(client);
      if (stopped || session?.user.id !== userId) return;
      return connect();
    } catch {
      // The server is unreachable; try again later.
    }
    if (!stopped) lost();
  }

  function add(changes: Change[]): void {
    if (state.get().paused) {
      set({ missed: true });
      return;
    }
    waiting.push(...changes);
    schedule();
  }

  function schedule(): void {
    if (fetching !== undefined) return;
    const waitMs = Math.max(0, lastFetchAt + BETWEEN_FETCHES_MS - Date.now());
    fetching = setTimeout(fetchChanged, waitMs);
  }

  function fetchChanged(): void {
    fetching = undefined;
    lastFetchAt = Date.now();
    const changes = waiting;
    waiting = [];
    const concerns = (query: Query, change: Change) => isAffected(query.queryKey[0], change, userId);
    // A running fetch may have read the old state, so repeat it afterwards. Cancelling it instead would starve a slow
    // answer under steady changes.
    const busy = client.getQueryCache().findAll({
      fetchStatus: 'fetching',
      predicate: (query) => changes.some((one) => concerns(query, one)),
    });
    void client.invalidateQueries(
      { predicate: (query) => changes.some((one) => concerns(query, one)) },
      { cancelRefetch: false },
    );
    const again = changes.filter((one) => busy.some((query) => concerns(query, one)));
    if (again.length > 0) add(again);
  }

  function refetchAll({ failedToo }: { failedToo: boolean }): void {
    if (state.get().paused) {
      set({ missed: true });
      return;
    }
    void client.invalidateQueries(
      {
        predicate: (query) => isLive(query.queryKey[0]) && (failedToo || query.state.status === 'success'),
      },
      { cancelRefetch: false },
    );
  }

  function onVisibility(): void {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(disconnect, HIDDEN_LIMIT_MS);
    else if (source === null) void reconnect();
  }

  const poll = setInterval(() => {
    if (state.get().connection === 'down' && !state.get().paused && !document.hidden)
      refetchAll({ failedToo: true });
  }, POLL_MS);
  document.addEventListener('visibilitychange', onVisibility);
  connect();

  return {
    state,
    setPaused(paused) {
      if (paused === state.get().paused) return;
      set({ paused, missed: false });
      if (!paused) refetchAll({ failedToo: true });
    },
    stop() {
      stopped = true;
      disconnect();
      clearTimeout(retry);
      clearTimeout(hiding);
      clearTimeout(fetching);
      clearInterval(poll);
      document.removeEventListener('visibilitychange', onVisibility);
    },
  };
}
