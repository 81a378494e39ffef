/** Sign-ins and sign-outs, told to the other tabs of this browser: they share the session. */

let channel: BroadcastChannel | null = null;

/** The same for telling and hearing, so that a tab does not hear itself. A browser without it finds out by asking. */
function openChannel(): BroadcastChannel | null {
  if (channel === null && 'BroadcastChannel' in globalThis) {
    channel = new BroadcastChannel('signal-board-session');
  }
  return channel;
}

export const announceSession = (): void => openChannel()?.postMessage('changed');

/** Answers how to stop listening. */
export function onSessionAnnounced(hear: () => void): () => void {
  const heard = openChannel();
  heard?.addEventListener('message', hear);
  return () => heard?.removeEventListener('message', hear);
}
