import { setTimeout as sleep } from 'node:timers/promises';
import { ATTENTION_SEVERITIES, type AttentionCondition } from '#contract/attention.ts';
import type { AttentionSource } from '#server/deps.ts';
import type { Logger } from '#server/platform/log.ts';

/** Shorter than what a statement may take: the conditions that are known are not held up by those that are not. */
const SOURCE_LIMIT_MS = 5_000;

/** Somebody who sees no condition takes it that there is none. */
const NOT_CHECKED: AttentionCondition = {
  code: 'not_checked',
  severity: 'warning',
  since: null,
  text: 'Some conditions could not be checked. The log says why.',
  link: null,
  action: null,
};

/** The conditions of all sources, the most severe first, then the oldest. A source that fails does not hide the others. */
export async function collectConditions(options: {
  sources: readonly AttentionSource[];
  log: Logger;
  limitMs?: number;
}): Promise<AttentionCondition[]> {
  const { sources, log, limitMs = SOURCE_LIMIT_MS } = options;
  const answers = await Promise.allSettled(sources.map((source) => inTime(source, limitMs)));
  const failed = answers.filter(({ status }) => status === 'rejected');
  for (const { reason } of failed as PromiseRejectedResult[]) {
    log.warn({ err: reason }, 'a source of conditions failed');
  }
  const known = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  return [...known, ...(failed.length === 0 ? [] : [NOT_CHECKED])].toSorted(byUrgency);
}

async function inTime(source: AttentionSource, limitMs: number): Promise<AttentionCondition[]> {
  const late = new AbortController();
  try {
    return await Promise.race([
      source(),
      sleep(limitMs, undefined, { ref: false, signal: late.signal }).then(() => {
        throw new Error(`No answer within ${limitMs} ms`);
      }),
    ]);
  } finally {
    late.abort();
  }
}

const rank = ({ severity }: AttentionCondition) => ATTENTION_SEVERITIES.indexOf(severity);
/** One that does not know its beginning comes after those that do. */
const begin = ({ since }: AttentionCondition) =>
  since === null ? Number.POSITIVE_INFINITY : Date.parse(since);

function byUrgency(one: AttentionCondition, other: AttentionCondition): number {
  if (one.severity !== other.severity) return rank(other) - rank(one);
  return begin(one) === begin(other) ? 0 : begin(one) - begin(other);
}
