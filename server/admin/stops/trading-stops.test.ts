import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';

let board: World;
let ann: TestUser;
let ben: TestUser;
beforeAll(async () => {
  board = await startWorld();
  [ann, ben] = [await board.createUser(), await board.createUser()];
});
afterEach(() => board.database.pool.query('delete from trading_stops'));
afterAll(() => board.close());

type Client = World['admin'];
async function stop(client: Client, body: object): Promise<TradingStopView> {
  const answer = await client.post('/api/trading-stops', body);
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json<TradingStopView>();
}
const list = async (client: Client) => (await client.get('/api/trading-stops')).json<TradingStopView[]>();
const lift = (client: Client, { id }: { id: string }) => client.delete(`/api/trading-stops/${id}`);
const own = ({ user }: TestUser) => ({ kind: 'user', value: user.id });

// Requirements: additions-stops-1, additions-stops-5
test('an administrator stops every scope, sees the stops and lifts them', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const made = [
    await stop(board.admin, { scope: { kind: 'all' }, reason: 'news' }),
    await stop(board.admin, { scope: { kind: 'strategy', value: 'Tesla' }, until }),
    await stop(board.admin, { scope: { kind: 'token', value: 'BTC' } }),
    await stop(board.admin, { scope: own(ann) }),
  ];
  expect(made[0]).toEqual({
    id: expect.any(String),
    scope: { kind: 'all', value: null },
    reason: 'news',
    createdAt: expect.any(String),
    createdBy: 'admin@example.com',
    until: null,
  });
  expect(made[1]).toMatchObject({ reason: null, until });
  expect(await list(board.admin)).toEqual(made);
  for (const one of made) {
    const answer = await lift(board.admin, one);
    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expectAnswer(await lift(board.admin, one), 404, 'This stop does not exist, was lifted or is over');
  }
  expect(await list(board.admin)).toEqual([]);
});

test.each([
  [{ scope: { kind: 'token', value: 'btc' } }, 'value must be a token such as BTC'],
  [{ scope: { kind: 'all', value: 'BTC' } }, 'value must be absent for everybody'],
  [{ scope: { kind: 'user', value: 'ann' } }, 'value must be the id of a user'],
  [{ scope: { kind: 'strategy', value: ' ' } }, 'value must not be empty'],
  [{ scope: { kind: 'all' }, reason: '' }, 'reason must not be empty'],
  [{ scope: { kind: 'all' }, until: '2020-01-01T00:00:00Z' }, 'until must be in the future'],
  [{ scope: { kind: 'all' }, until: 'tomorrow' }, 'Until must be an ISO 8601 instant with its zone'],
])('%j is refused with what is wrong', async (body, message) => {
  const answer = await board.admin.post('/api/trading-stops', body);
  expect(answer.statusCode).toBe(400);
  expect(answer.body).toContain(message);
  expect(await list(board.admin)).toEqual([]);
});

test('a user who does not exist cannot be stopped', async () => {
  const scope = { kind: 'user', value: UNKNOWN_ID };
  expectAnswer(await board.admin.post('/api/trading-stops', { scope }), 404, 'User not found');
});

test('the same stop again is the first one, and another reason is a stop of its own', async () => {
  const body = { scope: { kind: 'token', value: 'BTC' }, reason: 'news' };
  const [first, again] = [await stop(board.admin, body), await stop(board.admin, body)];
  expect(again).toEqual(first);
  await stop(board.admin, { ...body, reason: 'other news' });
  expect(await list(board.admin)).toHaveLength(2);
});

// Requirements: additions-stops-5
test('an ordinary user stops and lifts only their own entries, and sees no other user', async () => {
  for (const scope of [{ kind: 'all' }, { kind: 'token', value: 'BTC' }, own(ben)]) {
    expectAnswer(await ann.client.post('/api/trading-stops', { scope }), 403, 'Administrators only');
  }
  const mine = await stop(ann.client, { scope: own(ann), reason: 'holiday' });
  const ofAdmin = await stop(board.admin, { scope: own(ann) });
  const all = await stop(board.admin, { scope: { kind: 'all' } });
  expect(await list(ann.client)).toEqual([mine, ofAdmin, all]);
  expect(await list(ben.client)).toEqual([all]);
  for (const one of [ofAdmin, all]) expectAnswer(await lift(ann.client, one), 403, 'Administrators only');
  const missing = 'This stop does not exist, was lifted or is over';
  expectAnswer(await lift(ben.client, mine), 404, missing);
  expectAnswer(await lift(ben.client, { id: UNKNOWN_ID }), 404, missing);
  expect((await lift(ann.client, mine)).statusCode).toBe(204);
  expect(await list(ann.client)).toEqual([ofAdmin, all]);
});

// Requirements: additions-stops-5
test('lifting what stops everybody or somebody else needs a step-up, and stopping never', async () => {
  const all = await stop(board.admin, { scope: { kind: 'all' } });
  const ofAnn = await stop(board.admin, { scope: own(ann) });
  const token = await stop(board.admin, { scope: { kind: 'token', value: 'BTC' } });
  const mine = await stop(ann.client, { scope: own(ann) });
  await board.database.pool.query('update sessions set step_up_until = null');
  try {
    for (const one of [all, ofAnn]) {
      const answer = await lift(board.admin, one);
      expect([answer.statusCode, answer.json<{ failureType: string }>().failureType]).toEqual([
        403,
        'stepUpRequired',
      ]);
    }
    expect((await lift(board.admin, token)).statusCode).toBe(204);
    expect((await lift(ann.client, mine)).statusCode).toBe(204);
    await stop(board.admin, { scope: { kind: 'token', value: 'ETH' } });
  } finally {
    await board.database.pool.query(`update sessions set step_up_until = '9999-01-01'`);
  }
});

// Requirements: additions-stops-6
test('the pause of the settings is shown as a stop of its user, who lifts it in the settings', async () => {
  const until = new Date(Date.now() + 3_600_000).toISOString();
  const pauseUntil = (at: string | null) =>
    board.admin.put(`/api/admin/user-settings/${ann.user.id}`, { tradingPausedUntil: at });
  const saved = await pauseUntil(until);
  expect(saved.statusCode, saved.body).toBe(200);
  const pause = {
    id: `pause-${ann.user.id}`,
    scope: own(ann),
    reason: 'Paused in the settings',
    createdAt: null,
    createdBy: null,
    until,
  };
  expect(await list(ann.client)).toEqual([pause]);
  expect(await list(board.admin)).toEqual([pause]);
  expect(await list(ben.client)).toEqual([]);
  expectAnswer(await lift(board.admin, pause), 409, "This is the pause of the user's settings: end it there");
  await pauseUntil(null);
  expect(await list(ann.client)).toEqual([]);
});

// Requirements: additions-stops-6
test('making and lifting a stop is announced to every browser and recorded with its maker', async () => {
  const seen: string[] = [];
  const unsubscribe = await board.deps.changeFeed.subscribe({
    onMessage: ({ topic }) => void seen.push(topic),
    onGap: () => {},
    onAway: () => {},
  });
  const countSeen = () => seen.filter((topic) => topic === 'trading-stops').length;
  const made = await stop(board.admin, { scope: own(ann), reason: 'news' });
  await expect.poll(countSeen).toBe(1);
  await lift(board.admin, made);
  await expect.poll(countSeen).toBe(2);
  unsubscribe();
  const { rows } = await board.database.pool.query(
    `select action, actor_name, subject_kind, subject_name, coalesce(after, before)->>'reason' as reason
     from audit_log where subject_id = $1 order by id`,
    [made.id],
  );
  const entry = {
    actor_name: 'admin@example.com',
    subject_kind: 'stop',
    subject_name: ann.username,
    reason: 'news',
  };
  expect(rows).toEqual([
    { action: 'new entries stopped', ...entry },
    { action: 'new entries resumed', ...entry },
  ]);
});

test('a stop ends at its time', async () => {
  await stop(board.admin, { scope: { kind: 'all' }, until: new Date(Date.now() + 3_600_000).toISOString() });
  expect(await list(board.admin)).toHaveLength(1);
  await board.database.pool.query('update trading_stops set until = now() where until is not null');
  await expect.poll(() => list(board.admin), { timeout: 5_000 }).toEqual([]);
});
