import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs calls that arrive while a batch is running as the next batch, so that a thousand users cost a few statements. A
 * batch starts when the one before it has ended, and at least `everyMs` after that one's start.
 */
export function batched<One, Result>(
  run: (all: One[]) => Promise<Result[]>,
  { everyMs = 0 }: { everyMs?: number } = {},
): (one: One) => Promise<Result> {
  let next: { all: One[]; results: Promise<Result[]> } | null = null;
  let last: Promise<unknown> = Promise.resolve();

  function begin(): NonNullable<typeof next> {
    const all: One[] = [];
    const results = last.then(() => {
      next = null;
      const running = run(all);
      const pause = everyMs === 0 ? null : sleep(everyMs, undefined, { ref: false });
      last = Promise.allSettled([running, pause]);
      return running;
    });
    return { all, results };
  }

  return async (one) => {
    next ??= begin();
    const index = next.all.push(one) - 1;
    return (await next.results)[index] as Result;
  };
}
