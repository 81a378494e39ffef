import type { Deps } from '#server/deps.ts';
import { sendHttp } from './send-http.ts';

/**
 * Fetches the address of an outside watcher while the program is ready: it tells when that stops. The
 * address is set by the operator, so it may be private.
 */
export async function beatHeart({
  clock,
  config,
  log,
  readiness,
}: Pick<Deps, 'clock' | 'config' | 'log' | 'readiness'>): Promise<void> {
  if (config.heartbeatUrl === null) return;
  if (!(await readiness()).ready) return;
  const result = await sendHttp({ url: config.heartbeatUrl, method: 'GET', clock, allowPrivate: true });
  if (!result.ok) log.warn({ detail: result.detail }, 'the heartbeat was not accepted');
}
