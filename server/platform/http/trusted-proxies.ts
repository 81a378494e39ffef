import proxyAddr from '@fastify/proxy-addr';
import { LRUCache } from 'lru-cache';
import { withoutPort } from './source-address.ts';

/** Whether what an address says in X-Forwarded-* is believed. */
export type TrustsProxy = (address: string | undefined) => boolean;

const MAX_REMEMBERED = 2_000;

/** `TRUST_PROXY` as a function. It remembers what it has compared: the same few proxies come with every request. */
export function createProxyTrust(trustProxy: readonly string[]): TrustsProxy {
  if (trustProxy.length === 0) return () => false;
  const isListed = proxyAddr.compile([...trustProxy]);
  const remembered = new LRUCache<string, boolean>({
    max: MAX_REMEMBERED,
    memoMethod: (address) => isListed(withoutPort(address), 0),
  });
  return (address) => address !== undefined && remembered.memo(address);
}
