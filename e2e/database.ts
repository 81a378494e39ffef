import { join } from 'node:path';
import { expect, type Page } from '@playwright/test';
import pg from 'pg';
import type { PositionMakerStatus } from '#contract/position-maker.ts';
import { findPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import type { ManagedServer } from './managed-server.ts';

/** Changes rows in the server's embedded database, for states that the API cannot produce. */
export async function runStatements(
  server: ManagedServer,
  statements: { text: string; values: string[] }[],
): Promise<void> {
  const postmaster = await findPostmaster(join(server.dataDir, 'postgres'));
  if (postmaster === null) throw new Error('The database of the server is not running');
  const { host, port } = postmaster;
  const client = new pg.Client({ host, port, user: 'postgres', database: 'signal_board', ssl: false });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Ends the waits before the verification of orders, which the settings of some servers make longer than a test. */
export async function endWaits(page: Page, server: ManagedServer): Promise<void> {
  async function processingTasks(): Promise<number> {
    const answer = await page.request.get('/api/position-maker/status');
    return ((await answer.json()) as PositionMakerStatus).threadManager.processingTasks;
  }
  // Repeated: a worker that is busy with an order writes its own wait back.
  await expect(async () => {
    await runStatements(server, [
      { text: 'update order_attempts set verify_at = now() where verify_at > now()', values: [] },
      { text: "update trades set due_at = now() where state <> 'done'", values: [] },
      {
        text: `update jobs.job set start_after = now() where name = 'advance-trade' and state = 'created'`,
        values: [],
      },
    ]);
    await expect.poll(processingTasks, { timeout: 10_000 }).toBe(0);
  }).toPass();
}
