import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../log.ts';
import { createProxyTrust, plainAddress } from './source-address.ts';

const FORGET_AFTER_MS = 86_400_000;
/** Anybody can send the header; a few addresses are enough to notice a forgotten proxy. */
const MAX_REMEMBERED = 10;

interface UntrustedProxy {
  address: string;
  since: Date;
}

interface Incoming {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string | undefined };
}

export interface UntrustedProxies {
  /** Called with every request. */
  note(request: Incoming): void;
  /** The peers seen within a day, the oldest first. */
  list(): UntrustedProxy[];
}

/**
 * Peers that send X-Forwarded-For without being in `TRUST_PROXY`. All callers behind a forgotten proxy count as one
 * address for the sign-in limits and the allowed webhook addresses.
 */
export function createUntrustedProxies(deps: {
  config: Pick<Config, 'trustProxy'>;
  clock: Clock;
  log: Logger;
}): UntrustedProxies {
  const { trustProxy } = deps.config;
  const isTrusted = createProxyTrust(trustProxy);
  const seen = new Map<string, { address: string; since: Date; lastSeenMs: number }>();

  function forgetOld(nowMs: number): void {
    for (const [peer, { lastSeenMs }] of seen) if (nowMs - lastSeenMs >= FORGET_AFTER_MS) seen.delete(peer);
  }

  function add(peer: string, now: Date): void {
    forgetOld(now.getTime());
    if (seen.size >= MAX_REMEMBERED) return;
    const address = plainAddress(peer) ?? peer;
    seen.set(peer, { address, since: now, lastSeenMs: now.getTime() });
    deps.log.warn(
      { address },
      `X-Forwarded-For is not believed from this address, so everybody behind it counts as one; if it is your reverse proxy, set TRUST_PROXY=${[...trustProxy, address].join(',')}`,
    );
  }

  return {
    note({ headers, socket }) {
      if (headers['x-forwarded-for'] === undefined) return;
      const peer = socket.remoteAddress;
      if (peer === undefined || isTrusted(peer)) return;
      const now = deps.clock.now();
      const known = seen.get(peer);
      if (known !== undefined && now.getTime() - known.lastSeenMs < FORGET_AFTER_MS) {
        known.lastSeenMs = now.getTime();
      } else {
        add(peer, now);
      }
    },
    list() {
      forgetOld(deps.clock.now().getTime());
      return [...seen.values()].map(({ address, since }) => ({ address, since }));
    },
  };
}
