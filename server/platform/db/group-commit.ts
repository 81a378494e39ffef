import type { Clock } from '../clock.ts';

/** Turns of the event loop: answers go out in the first one, and further items come in. */
const GATHERING_TURNS = 2;

/**
 * Commits items that arrive at the same time together: while a transaction is in progress, the next items gather and
 * then share one, so that under load one fsync serves many. A lone item never waits; under load, items that may wait
 * gather until an urgent one comes.
 */
export interface GroupCommit<Item, Result> {
  add(item: Item): Promise<Result>;
  /** Resolves when every added item has been answered. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
  /** The next transaction need not begin before. */
  beginsAt: number;
}

export function createGroupCommit<Item, Result>(options: {
  clock: Clock;
  /** One transaction; returns the results in the order of the items. */
  commit: (items: Item[]) => Promise<Result[]>;
  maxItems: number;
  /** Concurrent transactions. */
  lanes: number;
  /** Another transaction starts in parallel only when this many items wait … */
  besideItems: number;
  /** … or when the last one has run this long: a few large transactions cost least. */
  besideAfterMs: number;
  /** With fewer items waiting, more may come in before the next transaction begins. */
  enough: number;
  /**
   * Items that may wait for others, and for how long, when at least this many items came within that time. They go with
   * the next urgent item.
   */
  patient?: { isPatient: (item: Item) => boolean; waitMs: number; fromItems: number };
  /** A transaction that takes longer gives its lane to the next one. */
  laneMs: number;
  /** Limit of transactions that may have left their lanes. */
  maxStuck: number;
  /** Called when a transaction takes longer than `laneMs`. */
  onStuck?: () => void;
  /** Whether a single item may have caused the error; then the halves of the batch are tried separately. */
  isItemFault: (error: unknown) => boolean;
  /** A half that waits for a lock does not hold up the other one, but a batch of bad items takes many connections. */
  halvesSideBySide?: true;
  /** Above this number, further items are refused with this error. Without it, all of them wait. */
  refuseAbove?: { waiting: number; error: () => Error };
}): GroupCommit<Item, Result> {
  const queue: Waiting<Item, Result>[] = [];
  let active = 0;
  let stuck = 0;
  let begunAt = Number.NEGATIVE_INFINITY;
  let cancelWakeUp = () => {};
  let wakesAt = Number.POSITIVE_INFINITY;
  let isGathering = false;
  let unanswered = 0;
  let whenIdle: (() => void)[] = [];
  /** When the latest items came, oldest first: as many as make it busy. */
  const cameAt: number[] = [];

  /** When the transaction of an item that comes now has to begin. */
  function beginsAtOf(item: Item): number {
    const { patient } = options;
    if (patient === undefined) return 0;
    const now = options.clock.monotonicMs();
    cameAt.push(now);
    if (cameAt.length > patient.fromItems) cameAt.shift();
    const isBusy = cameAt.length === patient.fromItems && now - (cameAt[0] ?? now) <= patient.waitMs;
    return isBusy && patient.isPatient(item) ? now + patient.waitMs : now;
  }

  /** Returns an error that no item caused. Answers go out a tick later, once the next batch has started. */
  async function commitAll(batch: Waiting<Item, Result>[]): Promise<{ outage: unknown } | null> {
    try {
      const results = await options.commit(batch.map(({ item }) => item));
      process.nextTick(answerEach, batch, results);
      return null;
    } catch (error) {
      const isItemFault = options.isItemFault(error);
      if (isItemFault && batch.length > 1) return await commitHalves(batch);
      refuseEach(batch, error);
      return isItemFault ? null : { outage: error };
    }
  }

  /** Halves a batch until a refused item is alone: a commit for each item would take too long. */
  async function commitHalves(batch: Waiting<Item, Result>[]): Promise<{ outage: unknown } | null> {
    const middle = Math.ceil(batch.length / 2);
    const [first, second] = [batch.slice(0, middle), batch.slice(middle)];
    if (options.halvesSideBySide) {
      const [one, other] = await Promise.all([commitAll(first), commitAll(second)]);
      return one ?? other;
    }
    const failed = await commitAll(first);
    if (failed === null) return await commitAll(second);
    refuseEach(second, failed.outage);
    return failed;
  }

  function answerEach(batch: readonly Waiting<Item, Result>[], results: readonly Result[]): void {
    batch.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result === undefined) reject(new Error(`the commit answered ${results.length} of ${batch.length}`));
      else resolve(result);
    });
    noteAnswered(batch.length);
  }

  function refuseEach(batch: readonly Waiting<Item, Result>[], error: unknown): void {
    for (const { reject } of batch) reject(error);
    noteAnswered(batch.length);
  }

  function noteAnswered(items: number): void {
    unanswered -= items;
    if (unanswered > 0) return;
    for (const wake of whenIdle) wake();
    whenIdle = [];
  }

  /** Holds a lane until the batch is answered, or for `laneMs` unless too many transactions are already stuck. */
  async function runInLane(batch: Waiting<Item, Result>[]): Promise<void> {
    const done = commitAll(batch).then(() => 'done' as const);
    let cancel = () => {};
    const late = new Promise<'late'>((resolve) => {
      cancel = options.clock.after(options.laneMs, () => resolve('late'));
    });
    const first = await Promise.race([done, late]);
    cancel();
    if (first === 'done') return;
    options.onStuck?.();
    if (stuck >= options.maxStuck) return void (await done);
    stuck += 1;
    void done.finally(() => {
      stuck -= 1;
      gather();
    });
  }

  /** When the next transaction may begin: after a while beside the last one, and with an item that does not wait. */
  function nextAt(): number {
    const besideAt =
      active === 0 || queue.length >= options.besideItems ? 0 : begunAt + options.besideAfterMs;
    const nobodyWaits = options.patient === undefined || queue.length >= options.maxItems;
    return nobodyWaits ? besideAt : Math.max(besideAt, Math.min(...queue.map(({ beginsAt }) => beginsAt)));
  }

  function pumpLater(at: number, now: number): void {
    if (wakesAt <= at) return;
    cancelWakeUp();
    wakesAt = at;
    cancelWakeUp = options.clock.after(at - now, () => {
      wakesAt = Number.POSITIVE_INFINITY;
      pump();
    });
  }

  function pump(): void {
    while (active < options.lanes && queue.length > 0) {
      const [at, now] = [nextAt(), options.clock.monotonicMs()];
      if (at > now) {
        pumpLater(at, now);
        break;
      }
      begunAt = now;
      active += 1;
      void runInLane(queue.splice(0, options.maxItems)).finally(() => {
        active -= 1;
        gather();
      });
    }
  }

  function gather(turns = GATHERING_TURNS): void {
    isGathering = turns > 0 && queue.length < options.enough;
    if (isGathering) setImmediate(gather, turns - 1);
    else pump();
  }

  return {
    add(item) {
      const { refuseAbove } = options;
      if (refuseAbove !== undefined && queue.length >= refuseAbove.waiting) {
        return Promise.reject(refuseAbove.error());
      }
      return new Promise((resolve, reject) => {
        queue.push({ item, resolve, reject, beginsAt: beginsAtOf(item) });
        unanswered += 1;
        if (!isGathering || queue.length >= options.enough) pump();
      });
    },
    idle() {
      if (unanswered === 0) return Promise.resolve();
      return new Promise((resolve) => whenIdle.push(resolve));
    },
  };
}
