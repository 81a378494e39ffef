import type { StepStatus } from '#domain/workflow/workflow-lifecycle.ts';
import type { Db, Tx } from '#server/platform/db/database.ts';
import { together } from '#server/platform/db/together.ts';
import { type Lease, withLastTransaction } from '#server/platform/jobs/leases.ts';
import { type StepStart, type StepWrite, writeSteps } from './workflow-steps.store.ts';

/**
 * Collects the steps of a run that are not written yet. A commit costs more than most steps, so steps are written
 * together: before slow work begins, with whatever must become true in the same transaction, and at the end. After a
 * crash unwritten steps run again: they had no other effect.
 */
export interface StepJournal {
  /** Starts a step; it is the current one from here on. */
  begin(step: StepStart): void;
  /** Ends the current step. */
  end(end: StepResult): void;
  /** Metadata of the current step while it waits. */
  note(metadata: unknown): void;
  /** Adds writes to the transaction that writes the steps. They run in parallel and must not depend on each other. */
  alongside(write: (tx: Tx) => Promise<void>): void;
  /** One commit for all; throws LeaseLostError and writes nothing if the lease was taken over. */
  writeDown(): Promise<void>;
  /** Like `writeDown`, as the last write under the lease, which it releases. */
  writeLast(): Promise<void>;
  /** Like `writeDown`, while `work` runs; waits for both. Writes nothing if `work` ends immediately. */
  writeDownDuring<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Like `writeDown`, in a larger transaction; everything counts as unwritten until that commits. */
  writeWithin(tx: Tx): Promise<void>;
  /**
   * Forgets unwritten writes and the steps that ended with them; returns the current step. Steps that ended before are
   * kept, or they would stay in progress.
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
  /** Steps that ended before the first write was added. */
  let endedBefore: StepWrite[] = [];

  const ended = () => steps.filter(({ completedAt }) => completedAt !== undefined);

  const change = (details: Partial<StepWrite>) => {
    if (current === null) throw new Error('no step is in progress');
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
      // A lost lease explains more than the error of work that went on without it.
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

/** The work ended without waiting for I/O. */
const isDoneAtOnce = (work: Promise<unknown>): Promise<boolean> =>
  new Promise((resolve) => {
    work.then(
      () => resolve(true),
      () => resolve(false),
    );
    setImmediate(resolve, false);
  });
