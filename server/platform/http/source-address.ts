import proxyAddr from '@fastify/proxy-addr';
import type { FastifyRequest } from 'fastify';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';

/** The peer's address, or the X-Forwarded-For of a trusted proxy; 'unknown' when the peer is already gone. */
export function sourceAddress(
  request: Pick<FastifyRequest, 'ip' | 'socket'>,
  config: Pick<Config, 'trustProxy'>,
): string {
  const peer = request.socket.remoteAddress;
  const said = config.trustProxy.length > 0 ? request.ip : peer;
  return plainAddress(said) ?? plainAddress(peer) ?? 'unknown';
}

/** Whether an address is one of those allowed, or within an allowed range; an empty list allows any. */
export function isAddressAllowed(address: string, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true;
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  return allowed.some((range) => {
    const [network, bits] = range.includes('/')
      ? ipaddr.parseCIDR(range)
      : ([ipaddr.process(range), Number.POSITIVE_INFINITY] as const);
    return (
      network.kind() === parsed.kind() &&
      parsed.match(network, Math.min(bits, network.kind() === 'ipv4' ? 32 : 128))
    );
  });
}

/** Limits count an IPv6 /64 as one: a household or server holds a whole one. */
export function addressGroup(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const parts = ipaddr.IPv6.parse(address).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`;
}

const MAX_REMEMBERED = 2_000;
/** An IPv6 address has at most 45 characters, without its zone. */
const LONGEST_ADDRESS = 64;

/** Empty for text that is not an address. */
const plain = new LRUCache<string, string>({
  max: MAX_REMEMBERED,
  memoMethod: (text) => toPlainAddress(text) ?? '',
});

export function plainAddress(text: string | undefined): string | null {
  if (text === undefined || text.length > LONGEST_ADDRESS) return null;
  return plain.memo(text) || null;
}

/** Some proxies add the port: 203.0.113.9:5678, [2001:db8::1]:443. */
export function withoutPort(text: string): string {
  const [, v6, v4] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? [];
  return v6 ?? v4 ?? text;
}

function toPlainAddress(said: string): string | null {
  const text = withoutPort(said);
  if (!ipaddr.isValid(text)) return null;
  // Without the zone of a link-local address (fe80::1%eth0), which is a name of this machine.
  return ipaddr.process(text.split('%', 1)[0] ?? text).toString();
}

export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';
}

/** `localhost` or a loopback address, as written in a URL or in HOST. */
export const isLoopbackName = (name: string): boolean =>
  name === 'localhost' || isLoopbackAddress(name.replace(/^\[(.*)\]$/, '$1'));

/** Whether X-Forwarded-* from an address is trusted. */
type TrustsProxy = (address: string | undefined) => boolean;

/** `TRUST_PROXY` as a function with a cache. */
export function createProxyTrust(trustProxy: readonly string[]): TrustsProxy {
  if (trustProxy.length === 0) return () => false;
  const isListed = proxyAddr.compile([...trustProxy]);
  const remembered = new LRUCache<string, boolean>({
    max: MAX_REMEMBERED,
    memoMethod: (address) => isListed(withoutPort(address), 0),
  });
  return (address) => address !== undefined && remembered.memo(address);
}
