import { eq, sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { workflows } from '#server/platform/db/schema.ts';
import { overtakenAt, sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import { runWorkflow } from './run-workflow.ts';

const engine = sharedTestEngine({ settles: false });

const statusesOf = async (workflowId: string) => (await engine.steps(workflowId)).map(({ status }) => status);

test('shows the step in progress while an exchange is slow', async () => {
  const { workflowId } = await storeTradedSignal(engine);
  let seen: string[] = [];
  const slow = answering(engine.deps, ({ fetchTicker }) => ({
    async fetchTicker(...parameters) {
      await expect.poll(() => statusesOf(workflowId)).toHaveLength(5);
      seen = await statusesOf(workflowId);
      return await fetchTicker(...parameters);
    },
  }));
  await runWorkflow(slow, workflowId);
  expect(seen).toEqual([...Array(4).fill('completed'), 'processing']);
});

test('writes nothing more when the workflow was taken over', async () => {
  const { workflowId } = await storeTradedSignal(engine);
  const key = `workflow:${workflowId}`;
  await runWorkflow(overtakenAt(engine, { key, call: 'fetchTicker' }), workflowId);
  expect(await statusesOf(workflowId)).not.toContain('failed');
  expect((await engine.steps(workflowId)).map(({ stepNumber }) => stepNumber)).not.toContain(6);
  expect(await engine.workflow(workflowId)).toMatchObject({ completedAt: null, eligibleUsersCount: 0 });
});

test('keeps steps that ended before one whose writes fail, and leaves none in progress', async () => {
  const { workflowId } = await storeTradedSignal(engine);
  await engine.db.update(workflows).set({ failedTries: 2 }).where(eq(workflows.id, workflowId));
  await engine.db.execute(sql`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'a bug'; end $$;
    create trigger refuse before insert on workflow_users for each row execute function refuse()`);
  await runWorkflow(engine.deps, workflowId).finally(() =>
    engine.db.execute(sql`drop function refuse cascade`),
  );
  expect(await engine.workflow(workflowId)).toMatchObject({
    status: 'failed',
    errorDetails: { failureType: 'PROCESSING_ERROR' },
  });
  // The selection of users was not written, so its step is not either.
  expect((await engine.steps(workflowId)).map(({ stepNumber, status }) => [stepNumber, status])).toEqual([
    ...[1, 2, 3, 4, 5].map((number) => [number, 'completed']),
    [7, 'failed'],
  ]);
});
