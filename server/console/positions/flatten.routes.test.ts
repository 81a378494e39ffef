import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { AuditAnswer } from '#contract/audit.ts';
import type { CloseAllProgress, CloseAllRun } from '#contract/close-all.ts';
import type { PositionsAnswer } from '#contract/positions.ts';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, TRADING, type World } from '#test/world.ts';

/** The whole program in paper mode. */
let board: World;
let sender: TestSender;
let trader: TestUser;
beforeAll(async () => {
  board = await startWorld({ ...TRADING, background: ['flattener'] });
  sender = await createSender({ app: board.app, client: board.admin });
  trader = await board.createTrader();
});
afterEach(() =>
  board.query(
    'delete from trading_stops where id not in (select ends_stop_id from flattens where ends_stop_id is not null)',
  ),
);
afterAll(() => board.close());

const open = async () => (await board.admin.get('/api/positions')).json<PositionsAnswer>().open;
async function openPosition(token: string): Promise<void> {
  await sender.signal({ symbol: `${token}USDT`, action: 'buy', price: '100' });
  await expect
    .poll(async () => (await open()).some((one) => one.token === token), { timeout: 20_000 })
    .toBe(true);
}
const start = (body: object) => board.admin.post('/api/positions/close-all', body);
const progress = async (id: string) =>
  (await board.admin.get(`/api/positions/close-all/${id}`)).json<CloseAllProgress>();
const stops = async () => (await board.admin.get('/api/trading-stops')).json<TradingStopView[]>();
const isDone = (id: string) =>
  expect.poll(async () => (await progress(id)).state, { timeout: 20_000 }).toBe('done');

// Requirements: additions-flatten-1, additions-flatten-5
test('stops new entries, closes every position, and tells how far it is', async () => {
  await openPosition('FLATA');
  await openPosition('FLATB');
  const answer = await start({ scope: { kind: 'all' }, confirm: 'CLOSE' });
  expect(answer.statusCode, answer.body).toBe(202);
  const { id } = answer.json<{ id: string }>();
  expect(await stops()).toMatchObject([
    { scope: { kind: 'all', value: null }, reason: 'Closing all positions', until: null },
  ]);
  await isDone(id);
  expect(await progress(id)).toEqual({ state: 'done', total: 2, closed: 2, failed: [], skipped: [] });
  await expect.poll(open, { timeout: 10_000 }).toEqual([]);
  const runs = (await board.admin.get('/api/positions/close-all')).json<CloseAllRun[]>();
  expect(runs).toMatchObject([
    { id, createdBy: 'admin@example.com', scope: { kind: 'all', value: null }, closed: 2 },
  ]);
  // The stop stays.
  expect(await stops()).toHaveLength(1);
  const { entries } = (await board.admin.get('/api/audit?limit=50')).json<AuditAnswer>();
  const actions = entries
    .filter(({ actor }) => actor.name === 'admin@example.com')
    .map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(['closing of all positions requested', 'position closed']));
});

// Requirements: additions-flatten-5
testEveryCase('without the wish to stay stopped, entries go on once everything is closed', async () => {
  await openPosition('FLATC');
  const { id } = (
    await start({ scope: { kind: 'token', value: 'FLATC' }, confirm: 'CLOSE', stop: false })
  ).json<{
    id: string;
  }>();
  await isDone(id);
  await expect.poll(stops).toEqual([]);
  await expect.poll(open, { timeout: 10_000 }).toEqual([]);
});

// Requirements: additions-flatten-5
test('needs the typed word, a known scope, an administrator and a step-up', async () => {
  for (const body of [{ scope: { kind: 'all' } }, { scope: { kind: 'all' }, confirm: 'close' }]) {
    expectAnswer(await start(body), 400, {
      message: 'Type CLOSE to confirm',
      errors: [{ path: 'confirm', message: 'Type CLOSE to confirm' }],
    });
  }
  expect((await start({ confirm: 'CLOSE' })).statusCode).toBe(400);
  const scope = { kind: 'user', value: UNKNOWN_ID };
  expectAnswer(await start({ scope, confirm: 'CLOSE' }), 404, 'User not found');
  expectAnswer(
    await trader.client.post('/api/positions/close-all', { scope: { kind: 'all' }, confirm: 'CLOSE' }),
    403,
    'Administrators only',
  );
  await board.query('update sessions set step_up_until = null');
  const refused = await start({ scope: { kind: 'all' }, confirm: 'CLOSE' });
  await board.query(`update sessions set step_up_until = '9999-01-01'`);
  expect([refused.statusCode, refused.json<{ failureType: string }>().failureType]).toEqual([
    403,
    'stepUpRequired',
  ]);
  expect(await stops()).toEqual([]);
});

test('an unknown closing is not found, and an ended one cannot be dismissed', async () => {
  const path = `/api/positions/close-all/${UNKNOWN_ID}`;
  expectAnswer(await board.admin.get(path), 404, 'This closing of all positions does not exist');
  expectAnswer(await board.admin.delete(path), 404, 'This closing of all positions does not exist');
  const { id } = (await start({ scope: { kind: 'token', value: 'NONE' }, confirm: 'CLOSE' })).json<{
    id: string;
  }>();
  await expect
    .poll(async () => (await board.admin.delete(`/api/positions/close-all/${id}`)).statusCode, {
      timeout: 10_000,
    })
    .toBe(409);
});
