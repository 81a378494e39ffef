import type { Clock } from '#server/platform/clock.ts';

/**
 * Runs calls that arrive while a batch is running as the next batch, so that a thousand users cost a few statements. A
 * batch starts when the one before it has ended, and with a `pace` at least that long after that one's start.
 */
export function batched<One, Result>(
  run: (all: One[]) => Promise<Result[]>,
  pace?: { everyMs: number; clock: Clock },
): (one: One) => Promise<Result> {
  let next: { all: One[]; results: Promise<Result[]> } | null = null;
  let last: Promise<unknown> = Promise.resolve();

  function begin(): NonNullable<typeof next> {
    const all: One[] = [];
    const results = last.then(() => {
      next = null;
      const running = run(all);
      const pause = pace?.clock.sleep(pace.everyMs);
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
