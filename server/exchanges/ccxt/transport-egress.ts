import { createHash } from 'node:crypto';
import { Agent, type Dispatcher, ProxyAgent } from 'undici';

/** An outgoing route: direct, or through a forward proxy with its own address. */
export interface Egress {
  /** Contains no password: it is stored in the table of limits. */
  name: string;
  dispatcher: Dispatcher;
}

export interface Egresses {
  /** A user's route never changes: the API key may be bound to its address. */
  forUser(userId: string): Egress;
  /** Public calls take the proxies in turn and skip those that recently refused a connection. */
  forPublic(): Egress;
  tookNoConnection(egress: Egress): void;
  close(): Promise<void>;
}

/** The share of the deadline for connecting, to tell an unreachable host from a silent one. */
const CONNECT_FRACTION = 0.5;
const PROXY_REST_MS = 30_000;

const NAMED = 'address:';

/** The egress of a public address that the operator named; null where all instances count as one address. */
export const directName = (address: string | null): string =>
  address === null ? 'direct' : `${NAMED}${address}`;

/** The operator's name of the address; null for a proxy and for an address without a name. */
export const addressIn = (egressName: string): string | null =>
  egressName.startsWith(NAMED) ? egressName.slice(NAMED.length) : null;

export function openEgresses(options: {
  proxies: readonly string[];
  /** The operator's name of the address that requests without a proxy leave through. */
  address: string | null;
  timeoutMs: number;
  now: () => Date;
}): Egresses {
  const { proxies, address, timeoutMs, now } = options;
  const connect = { timeout: Math.ceil(timeoutMs * CONNECT_FRACTION) };
  const open = (uri: string): Egress => ({
    name: nameOf(uri),
    dispatcher: new ProxyAgent({ uri, proxyTunnel: true, connect, requestTls: connect, proxyTls: connect }),
  });
  const direct = {
    name: directName(address),
    dispatcher: new Agent({ connect, keepAliveTimeout: 30_000 }),
  };
  const all: Egress[] = proxies.length === 0 ? [direct] : proxies.map(open);
  const restingUntil = new Map<string, number>();
  let turn = 0;

  const isRested = ({ name }: Egress) => (restingUntil.get(name) ?? 0) <= now().getTime();

  return {
    forUser: (userId) =>
      all.reduce((best, next) => (weight(next, userId) > weight(best, userId) ? next : best)),
    forPublic() {
      turn += 1;
      const inTurn = all.map((_, index) => all[(turn + index) % all.length] ?? direct);
      return inTurn.find(isRested) ?? inTurn[0] ?? direct;
    },
    tookNoConnection({ name }) {
      restingUntil.set(name, now().getTime() + PROXY_REST_MS);
    },
    async close() {
      await Promise.all([...new Set([...all, direct])].map(({ dispatcher }) => dispatcher.destroy()));
    },
  };
}

/** The egress with the highest weight serves the user: an added proxy takes over some users and moves nobody else. */
const weight = ({ name }: Egress, userId: string): number =>
  createHash('sha256').update(`${name} ${userId}`).digest().readUIntBE(0, 6);

/** The user name often selects the address behind a proxy; the password does not, so it is left out. */
function nameOf(uri: string): string {
  const { protocol, username, host } = new URL(uri);
  return createHash('sha256').update(`${protocol}//${username}@${host}`).digest('hex').slice(0, 12);
}
