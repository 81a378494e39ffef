import { useSyncExternalStore } from 'react';

export type OpenOverlay = 'palette' | 'shortcuts' | null;

let open: OpenOverlay = null;
const listeners = new Set<() => void>();

/** Opened from the header, from a key or from the palette itself, and shown in one place. */
export function showOverlay(next: OpenOverlay): void {
  open = next;
  for (const listener of listeners) listener();
}

export const shownOverlay = (): OpenOverlay => open;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useOverlay = (): OpenOverlay => useSyncExternalStore(subscribe, shownOverlay);
