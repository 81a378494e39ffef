import { lookup as resolveName } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address that nothing is sent to, and why; the text is for the owner of the channel. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError';
  /** It may be accepted later. */
  readonly isTemporary: boolean;
  constructor(message: string, { isTemporary = false } = {}) {
    super(message);
    this.isTemporary = isTemporary;
  }
}

export interface Resolved {
  address: string;
  family: number;
}

export type Resolve = (host: string) => Promise<Resolved[]>;

const systemResolve: Resolve = (host) => resolveName(host, { all: true });

/** Addresses of the internet, as IPv6 only those that are assigned: mapped and translated ones hide an IPv4 address. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || parsed.match(ipaddr.parseCIDR('2000::/3'));
}

/**
 * The addresses of a host, all of them checked: one private address among them refuses the host, so that nobody can
 * choose it by trying again. `allowPrivate`: NOTIFY_PRIVATE_ADDRESSES=allowed.
 */
export async function resolveChecked(
  host: string,
  { allowPrivate, resolve = systemResolve }: { allowPrivate: boolean; resolve?: Resolve | undefined },
): Promise<Resolved[]> {
  const bare = host.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(bare);
  const found = family === 0 ? await lookUp(bare, resolve) : [{ address: bare, family }];
  if (!allowPrivate && !found.every(({ address }) => isPublicAddress(address))) {
    throw new AddressRefusedError(
      'The address leads to a private network; only public addresses are allowed',
    );
  }
  return found;
}

async function lookUp(host: string, resolve: Resolve): Promise<Resolved[]> {
  const found = await resolve(host).catch(() => []);
  if (found.length === 0)
    throw new AddressRefusedError('The host name does not resolve', { isTemporary: true });
  return found;
}

/** For a connection: answers what was checked, whatever the name resolves to by then. */
export const lookupOf =
  (checked: readonly Resolved[]): LookupFunction =>
  (_host, options, done) => {
    const [first] = checked;
    if (options.all) done(null, [...checked] as never);
    else done(null, first?.address ?? '', first?.family ?? 4);
  };

/** Throws for an address that may never be sent to, before anything is resolved. */
export function readAddress(text: string, { allowPrivate }: { allowPrivate: boolean }): URL {
  const url = new URL(text);
  const protocols = allowPrivate ? ['https:', 'http:'] : ['https:'];
  if (!protocols.includes(url.protocol))
    throw new AddressRefusedError('The address must begin with https://');
  if (url.username !== '' || url.password !== '') {
    throw new AddressRefusedError('The address must not contain a user name or password');
  }
  return url;
}
