import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../log.ts';
import { plainAddress } from './source-address.ts';
import { createProxyTrust } from './trusted-proxies.ts';

const FORGET_AFTER_MS = 86_400_000;
/** Anybody who reaches the program can send the header: a few addresses are enough to see that one was forgotten. */
const MAX_REMEMBERED = 10;

export interface UntrustedProxy {
  address: string;
  since: Date;
}

/** What `note` reads of a request. */
interface Incoming {
  headers: IncomingHttpHeaders;
  socket: { remoteAddress?: string | undefined };
}

export interface UntrustedProxies {
  /** Called with every request, deliveries included: without the header it costs one look-up. */
  note(request: Incoming): void;
  /** Those seen within a day, the oldest first. */
  list(): UntrustedProxy[];
}

/**
 * Peers that send X-Forwarded-For without being in `TRUST_PROXY`. A reverse proxy that was forgotten there puts all its
 * callers behind one address, which then share the limits of sign-in and the list of webhook addresses.
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
