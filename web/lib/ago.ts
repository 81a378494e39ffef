import { useSyncExternalStore } from 'react';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Longer ago, the date says more. */
const MOST_DAYS = 30;

/** '6 s ago', '3 min ago', '2 h ago', '5 d ago'; null for what is longer ago, in the future or unreadable. */
export function formatAgo(instant: string | null | undefined, nowMs: number): string | null {
  const seconds = Math.floor((nowMs - Date.parse(instant ?? '')) / 1000);
  // Clocks differ a little.
  if (!(seconds >= -MINUTE) || seconds >= MOST_DAYS * DAY) return null;
  if (seconds < MINUTE) return `${Math.max(seconds, 0)} s ago`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h ago`;
  return `${Math.floor(seconds / DAY)} d ago`;
}

const TICK_MS = 5_000;
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function tick() {
  nowMs = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    nowMs = Date.now();
    timer = setInterval(tick, TICK_MS);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

/** What `read` makes of the present; one timer for all that show the age of something. */
export const useNow = <Value>(read: (nowMs: number) => Value): Value =>
  useSyncExternalStore(subscribe, () => read(nowMs));
