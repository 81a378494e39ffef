import proxyAddr from '@fastify/proxy-addr';
import { withoutPort } from './source-address.ts';

/** Whether what an address says in X-Forwarded-* is believed. */
export type TrustsProxy = (address: string | undefined) => boolean;

const MAX_REMEMBERED = 2_000;

/** `TRUST_PROXY` as a function. It remembers what it has compared: the same few proxies come with every request. */
export function createProxyTrust(trustProxy: readonly string[]): TrustsProxy {
  if (trustProxy.length === 0) return () => false;
  const isListed = proxyAddr.compile([...trustProxy]);
  const known = new Map<string, boolean>();
  return (address) => {
    if (address === undefined) return false;
    const remembered = known.get(address);
    if (remembered !== undefined) return remembered;
    const trusted = isListed(withoutPort(address), 0);
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(address, trusted);
    return trusted;
  };
}
