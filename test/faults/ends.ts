import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowsAnswer } from '#contract/automation.ts';
import type { OrderResult } from '#contract/position-maker.ts';
import type { Trade } from '#contract/signals.ts';
import type { ProgramClient } from '#demo/program-client.ts';

/** Limit from the last restart, or the last delivery after it, to the end of every workflow. */
const END_WITHIN_MS = 60_000;
/** Limit for an order in doubt that the exchange never received: it is retried after three look-ups and a minute. */
const DOUBT_WITHIN_MS = 100_000;
/** Gives up when no workflow has ended for this long. */
const WITHOUT_PROGRESS_MS = 150_000;
const POLL_MS = 250;
const LOOKED_AT = 100;

/** A workflow that was still running when a limit passed. */
export interface Late {
  workflowId: string;
  token: string;
  status: string;
  afterMs: number;
  /** Whether one of its orders is or was in doubt. */
  inDoubt: boolean;
}

export interface End {
  /** Seconds until no workflow was running, or until giving up. */
  seconds: number;
  left: number;
  late: Late[];
}

/** I1: every stored signal's workflow ends in time. */
export function judgeEnd({ left, late }: Pick<End, 'left' | 'late'>): string[] {
  const violations = late
    .filter(({ afterMs, inDoubt }) => afterMs >= (inDoubt ? DOUBT_WITHIN_MS : END_WITHIN_MS))
    .map(
      ({ workflowId, token, status, afterMs, inDoubt }) =>
        `I1: ${workflowId} of ${token} is ${status} ${Math.round(afterMs / 1_000)} s after the last restart${inDoubt ? ', its order was in doubt' : ''}`,
    );
  if (left > 0) violations.push(`I1: ${left} workflows do not go on`);
  return violations;
}

/** Waits until no workflow is running; records the running ones whenever a limit passes. */
export async function awaitEnd(admin: ProgramClient): Promise<End> {
  const startedAt = performance.now();
  const limits = [END_WITHIN_MS, DOUBT_WITHIN_MS];
  const late: Late[] = [];
  let fewest = Number.POSITIVE_INFINITY;
  let progressAt = startedAt;
  for (;;) {
    const left = (await countWorkflows(admin, 'pending')) + (await countWorkflows(admin, 'processing'));
    const now = performance.now();
    if (left < fewest) {
      fewest = left;
      progressAt = now;
    }
    if (left > 0 && limits[0] !== undefined && now - startedAt >= limits[0]) {
      limits.shift();
      late.push(...(await readLate(admin, now - startedAt)));
    }
    if (left === 0 || now - progressAt > WITHOUT_PROGRESS_MS)
      return { seconds: (now - startedAt) / 1_000, left, late };
    await sleep(POLL_MS);
  }
}

async function readLate(admin: ProgramClient, afterMs: number): Promise<Late[]> {
  const late: Late[] = [];
  for (const state of ['pending', 'processing']) {
    const { workflows } = await listWorkflows(admin, state, LOOKED_AT);
    for (const { workflowId, signalId, token, status } of workflows) {
      late.push({ workflowId, token, status, afterMs, inDoubt: await wasInDoubt(admin, signalId) });
    }
  }
  return late;
}

async function wasInDoubt(admin: ProgramClient, signalId: string | null): Promise<boolean> {
  if (signalId === null) return false;
  for (const { id } of await admin.get<Trade[]>(`/api/signals/${signalId}/trades`)) {
    const { verificationJourney } = await admin.get<OrderResult>(`/api/position-maker/orders/${id}`);
    if (verificationJourney.timeline.some((line) => line.includes('looking the order up'))) return true;
  }
  return false;
}

const listWorkflows = (admin: ProgramClient, status: string, limit: number) =>
  admin.get<WorkflowsAnswer>(`/api/automation-workflows?status=${status}&limit=${limit}`);

const countWorkflows = async (admin: ProgramClient, status: string): Promise<number> =>
  (await listWorkflows(admin, status, 1)).total;
