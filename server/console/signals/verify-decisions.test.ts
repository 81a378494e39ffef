import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { VerifiedDecisions } from '#contract/signals.ts';
import { writeDecisions } from '#server/engine/records/decisions.store.ts';
import { firstCases, testEveryCase } from '#test/app/in-turn.ts';
import { UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, TRADING, type World } from '#test/world.ts';

const soon = { timeout: 30_000, interval: 25 };

let board: World;
let sender: TestSender;

beforeAll(async () => {
  board = await startWorld(TRADING);
  sender = await createSender({ app: board.app, client: board.admin });
  // Each method, a user without an ATR, a balance too small, and users who are not eligible.
  await board.createTrader({ positionSizingMethod: 'Risk Management' });
  await board.createTrader({ positionSizingMethod: 'Portfolio Allocation', exchangePlatform: 'Bybit' });
  await board.createTrader({ positionSizingMethod: 'Technical Analysis' });
  await board.createTrader({ signalTimeframe: '1h' });
  await board.createUser();
});
afterAll(() => board.close());

async function traded(fields: Record<string, unknown>): Promise<string> {
  const { id } = (await sender.signal(fields)).json<{ id: string }>();
  const status = async () => (await board.admin.get(`/api/signals/${id}`)).json().workflowStatus;
  await expect.poll(status, soon).toBe('completed');
  return id;
}

async function verify(signalId: string): Promise<VerifiedDecisions> {
  const answer = await board.admin.post(`/api/signals/${signalId}/verify`, {});
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

const change = (signalId: string, set: string) =>
  board.query(
    `update decisions set ${set} from workflows
     where workflows.id = decisions.workflow_id and workflows.signal_id = $1 and record->'outcome'->>'ok' = 'true'
       and record->'sizedWith'->>'positionSizingMethod' = 'Risk Management'
     returning user_id, record->'outcome'->'position'->>'availableBalance' as balance`,
    [signalId],
  );

describe('decisions computed again from their records', () => {
  test('are identical: traded, refused and not eligible, with every method and in several tokens', async () => {
    await sender.candle({ Symbol: 'ETHUSDT', Close: '3000', ATR: '30', Mature_Trend: 'up' });
    const signals = [
      await traded({}),
      await traded({ symbol: 'ETHUSDT', price: '3000' }),
      // Held already: refused by what the exchange shows, or reversed.
      await traded({ symbol: 'ETHUSDT', price: '3001' }),
      await traded({ symbol: 'ETHUSDT', price: '2999', action: 'sell' }),
    ];
    for (const signalId of signals) {
      // The administrator is considered as well.
      expect(await verify(signalId)).toEqual({
        decisions: 6,
        identical: 6,
        differing: [],
        rulesDiffer: false,
      });
    }
    const outcomes = await board.query(
      `select record->'outcome'->>'ok' as ok, record->'eligibility'->>'status' as status, count(*)::int
       from decisions group by 1, 2 order by 1, 2`,
    );
    expect(outcomes).toEqual([
      { ok: 'false', status: 'eligible', count: expect.any(Number) },
      { ok: 'true', status: 'eligible', count: expect.any(Number) },
      { ok: null, status: 'not eligible', count: 12 },
    ]);
  });

  testEveryCase('are identical for a signal that closes, and name a changed position', async () => {
    await sender.candle({ Symbol: 'ADAUSDT', Close: '1', ATR: '0.01', Mature_Trend: 'up' });
    await traded({ symbol: 'ADAUSDT', price: '1' });
    const signalId = await traded({ symbol: 'ADAUSDT', price: '1', action: 'close' });
    expect(await verify(signalId)).toMatchObject({ decisions: 6, identical: 6, differing: [] });
    await board.query(
      `update decisions set record = jsonb_set(record, '{holder,positions}', '[]') from workflows
       where workflows.id = decisions.workflow_id and workflows.signal_id = $1
         and record->'eligibility'->>'status' = 'eligible'`,
      [signalId],
    );
    const { differing } = await verify(signalId);
    expect(differing.map(({ field }) => field)).toContain('holder');
    expect(differing).toContainEqual(
      expect.objectContaining({
        field: 'eligibility.status',
        recorded: 'eligible',
        computed: 'not eligible',
      }),
    );
  });

  testEveryCase(
    'name the user and the field that was changed in the database, and what follows from it',
    async () => {
      const signalId = await traded({ symbol: 'SOLUSDT', price: '150' });
      const [changed] = await change(signalId, `record = jsonb_set(record, '{balance}', '"9000"')`);
      const { identical, differing } = await verify(signalId);
      expect(identical).toBe(5);
      expect(new Set(differing.map(({ userId }) => userId))).toEqual(new Set([changed?.user_id]));
      const found = new Map(differing.map(({ field, ...values }) => [field, values]));
      expect(found.get('balance')).toMatchObject({ recorded: '9000', computed: null });
      expect(found.get('position.availableBalance')).toMatchObject({
        recorded: changed?.balance,
        computed: '9000',
      });
      expect([...found.keys()]).not.toContain('eligibility');
    },
  );

  test.each(
    firstCases([
      ['a field that changes no result', `record = jsonb_set(record, '{candle}', '{"id": "x"}')`, 'candle'],
      ['a field that is gone', `record = record - 'supportedExchanges'`, 'supportedExchanges'],
      ['a field that was added', `record = record || '{"note": 1}'`, 'note'],
      ['the seal of a field', `seals = seals || '{"mode": "x"}'`, 'mode'],
    ]),
  )('name %s', async (_what, set, field) => {
    const signalId = await traded({
      symbol: 'XRPUSDT',
      price: `0.${5000 + Math.floor(Math.random() * 900)}`,
    });
    await board.query(
      `update decisions set ${set} from workflows
       where workflows.id = decisions.workflow_id and workflows.signal_id = $1
         and user_id = (select id from users where is_admin)`,
      [signalId],
    );
    const { identical, decisions, differing } = await verify(signalId);
    expect(decisions - identical).toBe(1);
    expect(differing.map((one) => one.field)).toContain(field);
  });

  testEveryCase('name a user whose record is gone', async () => {
    const signalId = await traded({ symbol: 'ADAUSDT', price: '0.7' });
    const [gone] = await board.query(
      `delete from decisions using workflows
       where workflows.id = decisions.workflow_id and workflows.signal_id = $1
         and user_id = (select id from users where is_admin)
       returning user_id as "userId"`,
      [signalId],
    );
    expect(await verify(signalId)).toMatchObject({
      decisions: 5,
      identical: 5,
      differing: [{ ...gone, field: 'record', recorded: null, computed: null }],
    });
  });

  testEveryCase('say that the rules differ when they were made with other trading constants', async () => {
    const signalId = await traded({ symbol: 'TONUSDT', price: '5' });
    const [first] = await board.query(
      `select workflow_id as "workflowId", user_id as "userId" from decisions
       join workflows on workflows.id = workflow_id where signal_id = $1 limit 1`,
      [signalId],
    );
    const { db, secretBox } = board.deps;
    const made = [{ ...(first as { workflowId: string; userId: string }), record: { constants: 'others' } }];
    await db.transaction((tx) => writeDecisions(tx, { secretBox, made }));
    expect(await verify(signalId)).toMatchObject({ identical: 6, differing: [], rulesDiffer: true });
  });

  test('are for administrators, and of a signal that exists', async () => {
    const { client } = await board.createUser();
    expect((await client.post(`/api/signals/${UNKNOWN_ID}/verify`, {})).statusCode).toBe(403);
    expect((await board.admin.post(`/api/signals/${UNKNOWN_ID}/verify`, {})).statusCode).toBe(404);
  });
});
