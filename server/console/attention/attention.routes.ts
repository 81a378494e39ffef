import { ATTENTION_SEVERITIES, type AttentionCondition, attentionAnswer } from '#contract/attention.ts';
import type { AttentionSource, Deps } from '#server/deps.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import type { Logger } from '#server/platform/log.ts';
import { tradingConditions } from './trading-conditions.ts';

/** Shorter than the statement limit, so that one unreadable source does not delay the known conditions. */
const SOURCE_LIMIT_MS = 5_000;

/** Added when a source fails; otherwise an operator would assume that there is no condition. */
const NOT_CHECKED: AttentionCondition = {
  code: 'not_checked',
  severity: 'warning',
  since: null,
  text: 'Some conditions could not be checked. The log says why.',
  link: null,
  action: null,
};

export function registerAttentionRoutes(
  app: App,
  deps: Pick<Deps, 'attentionSources'> & Parameters<typeof tradingConditions>[0],
): void {
  const { attentionSources, clock, log } = deps;
  const sources = [...attentionSources, ...tradingConditions(deps)];
  const admin = routeOptions({ access: 'admin' });
  app.get('/api/attention', admin({ answer: attentionAnswer }), async () => ({
    conditions: await collectConditions({ sources, clock, log }),
  }));
}

/** Conditions of all sources, most severe first, then oldest first. A failing source does not hide the others. */
export async function collectConditions(options: {
  sources: readonly AttentionSource[];
  clock: Clock;
  log: Logger;
  limitMs?: number;
}): Promise<AttentionCondition[]> {
  const { sources, clock, log, limitMs = SOURCE_LIMIT_MS } = options;
  const answers = await Promise.allSettled(sources.map((source) => inTime(source, { clock, limitMs })));
  const failed = answers.filter(({ status }) => status === 'rejected');
  for (const { reason } of failed as PromiseRejectedResult[]) {
    log.warn({ err: reason }, 'a source of conditions failed');
  }
  const known = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  return [...known, ...(failed.length === 0 ? [] : [NOT_CHECKED])].toSorted(byUrgency);
}

async function inTime(
  source: AttentionSource,
  { clock, limitMs }: { clock: Clock; limitMs: number },
): Promise<AttentionCondition[]> {
  const conditions = await Promise.race([source(), clock.sleep(limitMs).then(() => null)]);
  if (conditions === null) throw new Error(`No answer within ${limitMs} ms`);
  return conditions;
}

const rank = ({ severity }: AttentionCondition) => ATTENTION_SEVERITIES.indexOf(severity);
/** Conditions with an unknown start come last. */
const begin = ({ since }: AttentionCondition) =>
  since === null ? Number.POSITIVE_INFINITY : Date.parse(since);

function byUrgency(one: AttentionCondition, other: AttentionCondition): number {
  if (one.severity !== other.severity) return rank(other) - rank(one);
  return begin(one) === begin(other) ? 0 : begin(one) - begin(other);
}

/** Reverse proxies missing from `TRUST_PROXY`. No screen can fix this, so there is no link. */
export function untrustedProxyConditions(deps: Pick<Deps, 'config' | 'untrustedProxies'>): AttentionSource {
  return async () =>
    deps.untrustedProxies.list().map(({ address, since }) => ({
      code: 'untrusted_proxy',
      severity: 'warning',
      since: since.toISOString(),
      text: `${address} sends X-Forwarded-For, but TRUST_PROXY does not name it: everybody behind it counts as one address. If it is your reverse proxy, set TRUST_PROXY=${[...deps.config.trustProxy, address].join(',')} and start again.`,
      link: null,
      action: null,
    }));
}
