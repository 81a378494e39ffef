import { LRUCache } from 'lru-cache';
import type { CallScope, ExchangeAnswer } from '../ccxt/call-scope.ts';
import type { Egress, Egresses } from '../ccxt/transport-egress.ts';
import { addressKey } from './exchange-addresses.ts';
import type { Pass, RateLimiter, Turn } from './rate-limiter.ts';
import { endpointOf, priorityOf, type RateLimits } from './rate-limits.ts';

export interface TransportLimits {
  /** The exchange whose limits these are: prefix of every key. */
  platform: string;
  limits: RateLimits;
  limiter: RateLimiter;
}

/** How a request leaves: its egress and its pass from the limiter; null where nothing is limited. */
export interface Way {
  egress: Egress;
  pass: Pass | null;
}

/** Chooses the egress of each request and when it leaves. */
export interface Turns {
  /** Waits for the turn of the scope's next request to this path. */
  take(scope: CallScope, path: string): Promise<void>;
  /** The request that a turn was taken for is not sent. */
  giveBack(scope: CallScope, path: string): Promise<void>;
  /** The way of a request that leaves now: the turn taken for it, or else waits for one. */
  claim(scope: CallScope, path: string): Promise<Way>;
  /** Applies the request limits reported in the answer, for all instances. */
  applyLimitHeaders(way: Way, answer: ExchangeAnswer): Promise<void>;
  /** The request was not sent after all, or no answer came. */
  withoutAnswer(way: Way): Promise<void>;
}

/** Time between the pass and the actual send. */
const MARGIN_MS = 50;
const MOST_REPORTED = 10_000;

export function createTurns(options: {
  egresses: Egresses;
  limits: TransportLimits | null;
  timeoutMs: number;
  now: () => Date;
}): Turns {
  const { egresses, limits: limited, timeoutMs, now } = options;
  /** Turns of each call that were taken but not yet used. */
  const takenBy = new WeakMap<CallScope, { path: string; way: Way }[]>();
  /** Limits that the exchange reports for an account's endpoint: an account may have more than the documented one. */
  const reported = new LRUCache<string, number>({ max: MOST_REPORTED });

  const egressOf = ({ account }: CallScope) =>
    account === null ? egresses.forPublic() : egresses.forUser(account.userId);

  async function wait(scope: CallScope, path: string): Promise<Way> {
    const egress = egressOf(scope);
    if (limited === null) return { egress, pass: null };
    const { bucket, ...limits } = limitsOf(limited, scope, { path, egress });
    const pass = await limited.limiter.take({
      ...limits,
      bucket: { ...bucket, perSecond: reported.get(bucket.key) ?? bucket.perSecond },
      priority: scope.priority ?? priorityOf(scope.type),
      patienceMs: patienceOf(scope),
    });
    return { egress, pass };
  }

  /** At most as long as for an answer, and never beyond the call's `notAfter`. */
  function patienceOf({ notAfter }: CallScope): number {
    if (notAfter === null) return timeoutMs;
    return Math.min(timeoutMs, Math.max(0, notAfter.getTime() - now().getTime() - MARGIN_MS));
  }

  function findTaken(scope: CallScope, path: string): Way | null {
    const turns = takenBy.get(scope) ?? [];
    const taken = turns.find((turn) => path.endsWith(turn.path));
    if (taken === undefined) return null;
    takenBy.set(scope, turns.toSpliced(turns.indexOf(taken), 1));
    return taken.way;
  }

  async function withoutAnswer({ pass }: Way): Promise<void> {
    if (pass !== null) await limited?.limiter.unanswered(pass);
  }

  return {
    async take(scope, path) {
      if (scope.describe !== undefined) return;
      const way = await wait(scope, path);
      takenBy.set(scope, [...(takenBy.get(scope) ?? []), { path, way }]);
    },
    claim: async (scope, path) => findTaken(scope, path) ?? (await wait(scope, path)),
    async giveBack(scope, path) {
      const way = findTaken(scope, path);
      if (way !== null) await withoutAnswer(way);
    },
    async applyLimitHeaders({ pass }, answer) {
      if (limited === null || pass === null) return;
      const usage = limited.limits.usageOf(answer, now());
      const { account, bucket } = pass.turn;
      if (usage?.perSecond && account !== null) reported.set(bucket.key, usage.perSecond);
      const refusal = limited.limits.refusalOf(answer, now());
      await limited.limiter.answered(pass, { refusal, usage: account === null ? null : usage });
    },
    withoutAnswer,
  };
}

function limitsOf(
  { platform, limits }: TransportLimits,
  { account }: CallScope,
  { path, egress }: { path: string; egress: Egress },
): Pick<Turn, 'egress' | 'bucket' | 'account' | 'endpoint'> {
  const endpoint = endpointOf(limits, path);
  const address = addressKey(platform, egress.name);
  return {
    account: account?.userId ?? null,
    endpoint: endpoint.name,
    egress: { key: address, perSecond: limits.egressPerSecond },
    bucket:
      account === null
        ? { key: `${address} ${endpoint.name}`, perSecond: limits.publicPerSecond }
        : { key: `${platform} ${account.userId} ${endpoint.name}`, perSecond: endpoint.perSecond },
  };
}
