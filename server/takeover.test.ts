import { expect, test } from 'vitest';
import { HELD_RETRY_MS as TRADE_RETRY_MS } from './engine/orders/advance-trade.ts';
import { HELD_RETRY_MS as AUDIT_RETRY_MS } from './engine/protection/audit-protection.ts';
import { HELD_RETRY_MS as WORKFLOW_RETRY_MS } from './engine/workflow/run-workflow.ts';
import { OVERDUE_MS, SWEEP_EVERY_MS } from './engine/workflow/sweep.ts';
import { LEASE_RETRY_MS as USER_RETRY_MS } from './engine/workflow/trade-wave.ts';
import {
  HEARTBEAT_SECONDS,
  type JobName,
  QUEUES,
  RETRY_SECONDS,
  SUPERVISE_SECONDS,
} from './platform/jobs/jobs.ts';
import { LEASE_SECONDS } from './platform/jobs/leases.ts';

/**
 * Others continue the work of a frozen instance within 30 s: not measured here, but added up from the settings that
 * determine it. server/instances.long.test.ts sees it happen.
 */
const WITHIN_MS = 30_000;
/** Allows for the statements and the turn of the event loop between one wait and the next. */
const SLACK_MS = 2_000;

const leaseMs = LEASE_SECONDS * 1_000;
const pollMs = (name: JobName) => QUEUES[name].pollSeconds * 1_000;
const RETRY_MS: Record<JobName, number> = {
  'run-workflow': WORKFLOW_RETRY_MS,
  'trade-wave': USER_RETRY_MS,
  'trade-user': USER_RETRY_MS,
  'advance-trade': TRADE_RETRY_MS,
};
const NAMES = Object.keys(QUEUES) as JobName[];

test.each(NAMES)('%s: its lease, the waiting call and the poll that sees the call fit into 30 s', (name) => {
  expect(leaseMs + RETRY_MS[name] + pollMs(name) + SLACK_MS).toBeLessThanOrEqual(WITHIN_MS);
});

test.each(NAMES)(
  '%s: the call that a frozen instance had taken comes again before its lease is over',
  (name) => {
    const againMs = 1_000 * (HEARTBEAT_SECONDS + SUPERVISE_SECONDS + 2 * RETRY_SECONDS) + pollMs(name);
    expect(againMs).toBeLessThan(leaseMs);
  },
);

test('sends a lost or failed call again in time', () => {
  for (const name of ['run-workflow', 'trade-wave', 'trade-user'] as const) {
    expect(SWEEP_EVERY_MS + pollMs(name)).toBeLessThan(leaseMs);
  }
  expect(OVERDUE_MS + SWEEP_EVERY_MS + pollMs('advance-trade') + SLACK_MS).toBeLessThanOrEqual(WITHIN_MS);
});

test('restarts a frozen audit of the stops in time', () => {
  expect(leaseMs + AUDIT_RETRY_MS + SLACK_MS).toBeLessThanOrEqual(WITHIN_MS);
});
