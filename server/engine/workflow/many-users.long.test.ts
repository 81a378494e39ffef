import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { runWorkflow } from './run-workflow.ts';

/**
 * A statement takes at most 65,535 values, so a workflow must not send several per user: four of 20,000
 * users are more.
 */
const engine = sharedTestEngine({ settles: false });

const USERS = 20_000;

/** Creates copies of a user. */
async function multiply(userId: string, copies: number): Promise<void> {
  await engine.db.execute(sql`
    with copied as (
      insert into users (id, username, username_key, password_hash, is_test_user, is_active, created_at, updated_at)
      select gen_random_uuid(), 'copy' || number, 'copy' || number, 'none', is_test_user, is_active, created_at, updated_at
      from users, generate_series(1, ${copies}::int) as number where id = ${userId}
      returning id
    )
    insert into user_settings
    select (jsonb_populate_record(settings, jsonb_build_object('user_id', copied.id))).*
    from user_settings settings, copied where settings.user_id = ${userId}`);
}

test('decides a signal for each of many thousand users, and trades it for the eligible ones', async () => {
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', tradeOrderSet: 'A' });
  await multiply(userId, USERS - 1);
  const { workflowId } = await engine.storeSignal({ token: 'MANY', price: '100' });
  await runWorkflow(engine.deps, workflowId);
  expect(await engine.workflow(workflowId)).toMatchObject({
    status: 'processing',
    eligibleUsersCount: USERS,
    failedTries: 0,
  });
  const decided = await engine.outcomes(workflowId);
  expect([...decided.values()].map(({ position }) => position)).toEqual(
    Array.from({ length: USERS }, (_, n) => n),
  );
  expect(decided.get(userId)).toMatchObject({
    status: 'eligible',
    reason: 'All eligibility criteria met',
    outcome: 'waiting',
  });
  expect(await planUser(engine.deps, { workflowId, userId })).not.toBeNull();
});
