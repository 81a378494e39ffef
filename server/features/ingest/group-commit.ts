/**
 * Commits what arrives at the same time together: while one transaction is under way the next deliveries gather,
 * and then share one. Under load a commit's fsync is paid once for many; a lone delivery waits for nobody.
 */
export interface GroupCommit<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves when everything that was added has been answered. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export function createGroupCommit<Item, Result>(options: {
  /** One transaction; results in the order of the items. */
  commit: (items: Item[]) => Promise<Result[]>;
  maxItems: number;
  /** Transactions at a time. */
  lanes: number;
  /** Whether one item may be to blame: only then is each tried by itself. */
  isItemFault: (error: unknown) => boolean;
  /** Beyond this many waiting the next one is refused at once, with `tooMany`. */
  maxWaiting: number;
  tooMany: () => Error;
}): GroupCommit<Item, Result> {
  const queue: Waiting<Item, Result>[] = [];
  let active = 0;
  let whenIdle: (() => void)[] = [];

  /** Answers the error when it was nobody's fault. */
  async function commitAll(batch: Waiting<Item, Result>[]): Promise<{ outage: unknown } | null> {
    try {
      const results = await options.commit(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index];
        if (result === undefined)
          reject(new Error(`the commit answered ${results.length} of ${batch.length}`));
        else resolve(result);
      });
      return null;
    } catch (error) {
      const isItemFault = options.isItemFault(error);
      if (isItemFault && batch.length > 1) return await commitEach(batch);
      for (const { reject } of batch) reject(error);
      return isItemFault ? null : { outage: error };
    }
  }

  /** One row may be what the database refuses: each then stands for itself, as long as the database is there. */
  async function commitEach(batch: Waiting<Item, Result>[]): Promise<{ outage: unknown } | null> {
    for (const [index, one] of batch.entries()) {
      const failed = await commitAll([one]);
      if (failed === null) continue;
      for (const { reject } of batch.slice(index + 1)) reject(failed.outage);
      return failed;
    }
    return null;
  }

  function pump(): void {
    while (active < options.lanes && queue.length > 0) {
      active += 1;
      void commitAll(queue.splice(0, options.maxItems)).finally(() => {
        active -= 1;
        pump();
      });
    }
    if (active === 0 && queue.length === 0) {
      for (const wake of whenIdle) wake();
      whenIdle = [];
    }
  }

  return {
    add(item) {
      if (queue.length >= options.maxWaiting) return Promise.reject(options.tooMany());
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject });
        pump();
      });
    },
    idle() {
      if (active === 0 && queue.length === 0) return Promise.resolve();
      return new Promise((resolve) => whenIdle.push(resolve));
    },
  };
}
