import type { StepStatus } from '#domain/workflow/workflow-lifecycle.ts';
import type { Db, Tx } from '#server/platform/db/database.ts';
import { together } from '#server/platform/db/together.ts';
import { type Lease, withLastTransaction } from '#server/platform/jobs/leases.ts';
import { type StepStart, type StepWrite, writeSteps } from './workflow-steps.store.ts';

/**
 * Steps of a run that are not written yet. A commit costs more than most steps, so steps are written together: before
 * slow work begins, with what must become true in the same transaction, and at the end. After a crash unwritten steps
 * are done again: they had no other effect.
 */
export interface StepJournal {
  /** The step that is under way from here on. */
  begin(step: StepStart): void;
  /** How the step under way ended. */
  end(end: StepResult): void;
  /** Metadata of the step under way while it waits. */
  note(metadata: unknown): void;
  /**
   * Runs in the transaction that writes the steps, in parallel with the other writes: one must not depend on another.
   */
  alongside(write: (tx: Tx) => Promise<void>): void;
  /** One commit for all; throws LeaseLostError and writes nothing if the lease was taken over. */
  writeDown(): Promise<void>;
  /** The same as the last write under the lease, which is given back with it. */
  writeLast(): Promise<void>;
  /** The same while `work` is done; throws when both have ended. For work that is done at once nothing is written. */
  writeDownDuring<Result>(work: () => Promise<Result>): Promise<Result>;
  /** The same in a larger transaction; until that has committed all of it is still to be written. */
  writeWithin(tx: Tx): Promise<void>;
  /**
   * Forgets unwritten writes and the steps that ended with them; answers the step under way. Steps that ended before
   * are kept, or they would stay under way.
   */
  abandon(): StepStart | null;
}

export interface StepResult {
  status: Exclude<StepStatus, 'pending' | 'processing'>;
  outputData?: unknown;
  errorMessage?: string;
  at: Date;
}

export function createStepJournal({ db, lease }: { db: Db; lease: Lease }): StepJournal {
  let steps: StepWrite[] = [];
  let writes: ((tx: Tx) => Promise<void>)[] = [];
  let current: StepStart | null = null;
  /** Those that ended before anything was to go along with them. */
  let endedBefore: StepWrite[] = [];

  const ended = () => steps.filter(({ completedAt }) => completedAt !== undefined);

  const change = (details: Partial<StepWrite>) => {
    if (current === null) throw new Error('no step is under way');
    const { stepNumber } = current;
    const noted = steps.find((step) => step.stepNumber === stepNumber);
    if (noted !== undefined) Object.assign(noted, details);
    else steps.push({ ...current, status: 'processing', ...details });
  };
  async function writeWithin(tx: Tx): Promise<void> {
    await together(writeSteps(tx, lease, steps), ...writes.map((write) => write(tx)));
  }

  async function writeBy(transact: () => Promise<void>): Promise<void> {
    if (writes.length > 0) await transact();
    else if (steps.length > 0) await writeSteps(db, lease, steps);
    steps = [];
    writes = [];
  }

  const writeDown = () => writeBy(() => db.transaction(writeWithin));

  return {
    begin(step) {
      current = step;
      steps.push({ ...step, status: 'processing' });
    },
    end: ({ at, ...result }) => change({ ...result, completedAt: at }),
    note: (metadata) => change({ metadata }),
    alongside(write) {
      if (writes.length === 0) endedBefore = ended();
      writes.push(write);
    },
    writeDown,
    writeLast: () =>
      writeBy(() =>
        withLastTransaction(db, lease, async (tx) => ({ isLast: true, result: await writeWithin(tx) })),
      ),
    async writeDownDuring(work) {
      const working = work();
      if (await isDoneAtOnce(working)) return working;
      const [written, done] = await Promise.allSettled([writeDown(), working]);
      // The lease may be gone: that says more than what came of working without it.
      if (written.status === 'rejected') throw written.reason;
      if (done.status === 'rejected') throw done.reason;
      return done.value;
    },
    writeWithin,
    abandon() {
      const kept = writes.length === 0 ? ended() : endedBefore;
      steps = kept.filter(({ stepNumber }) => stepNumber !== current?.stepNumber);
      writes = [];
      return current;
    },
  };
}

/** Nothing had to be waited for. */
const isDoneAtOnce = (work: Promise<unknown>): Promise<boolean> =>
  new Promise((resolve) => {
    work.then(
      () => resolve(true),
      () => resolve(false),
    );
    setImmediate(resolve, false);
  });
