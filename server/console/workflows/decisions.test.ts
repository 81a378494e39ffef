import { afterAll, expect, test } from 'vitest';
import type { DecisionsAnswer } from '#contract/decisions.ts';
import type { Signal } from '#contract/signals.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer, type TestClient, UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, TRADING } from '#test/world.ts';

const board = await startWorld(TRADING);
afterAll(() => board.close());
const admin = await createSender({ app: board.app, client: board.admin });
const trader = await board.createTrader({ signalProcessor: 'Tesla' });
const other = await board.createUser();
const own = await createSender({ app: board.app, client: other.client });

const list = async (of: TestUser, query = '', client: TestClient = board.admin) => {
  const answer = await client.get(`/api/users/${of.user.id}/decisions${query}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<DecisionsAnswer>();
};
const shown = ({ decisions }: DecisionsAnswer) =>
  decisions.map(({ token, result, reason }) => [token, result, reason]);

let minutes = 0;
async function signal(sender: TestSender, token: string, fields: object = {}): Promise<string> {
  minutes += 1;
  const now = new Date();
  const DateTime = new Date(now.getTime() - minutes * 60_000)
    .toISOString()
    .slice(0, 16)
    .replaceAll(/\D/g, '');
  await sender.candle({ Symbol: `${token}USDT`, Close: '100', DateTime, ATR: '1' });
  const body = { symbol: `${token}USDT`, price: '100', time: now.toISOString(), ...fields };
  const { id } = (await sender.signal(body)).json<{ id: string }>();
  await expect
    .poll(async () => (await board.admin.get(`/api/signals/${id}`)).json<Signal>().workflowStatus, {
      timeout: 20_000,
    })
    .toMatch(/completed|failed|aborted/);
  return id;
}

// Requirements: additions-overview-6
test('lists every signal with what became of the user and why, newest first', async () => {
  const eth = await signal(admin, 'ETH');
  await signal(admin, 'ETH');
  await signal(admin, 'SOL', { processor: 'UD Bot' });
  // Another user's own signal is not meant for the trader.
  await signal(own, 'XRP');
  // Fails before anybody is considered.
  const late = await signal(admin, 'ADA');
  await board.query(
    'delete from workflow_users where workflow_id = (select id from workflows where signal_id = $1)',
    [late],
  );
  await board.query(
    "update workflows set status = 'failed', error_message = 'Signal expired' where signal_id = $1",
    [late],
  );

  const answer = await list(trader);
  expect(answer.total).toBe(4);
  expect(shown(answer)).toEqual([
    ['ADA', 'not_considered', 'Signal expired'],
    ['SOL', 'not_eligible', expect.stringContaining('UD Bot')],
    ['ETH', 'skipped', expect.stringMatching(/position in ETH|ETH position|already/)],
    ['ETH', 'filled', null],
  ]);
  expect(answer.decisions[2]?.reason).not.toContain('user will be skipped');
  expect(answer.decisions[3]).toMatchObject({
    signalId: eth,
    trigger: 'automatic',
    action: 'buy',
    price: '100',
    processor: 'Tesla',
    timeframe: '15',
    filledQuantity: expect.stringMatching(/^[\d.]+$/),
    averagePrice: '100',
  });
  expect(shown(await list(other))[1]).toEqual(['XRP', 'not_eligible', expect.any(String)]);
});

// Requirements: additions-overview-6
test('is filtered by outcome and reason, and paged with an exact total', async () => {
  expect(shown(await list(trader, '?outcome=traded')).map(([token]) => token)).toEqual(['ETH']);
  const not = await list(trader, '?outcome=not_traded&limit=2&page=2');
  expect([not.total, not.decisions.length]).toEqual([3, 1]);
  expect((await list(trader, '?reason=EXPIRED')).decisions.map(({ token }) => token)).toEqual(['ADA']);
  expect(await list(trader, '?reason=no+such%25')).toEqual({ decisions: [], total: 0 });
  expect((await list(trader, '?page=9')).total).toBe(4);
  for (const query of ['outcome=perhaps', 'limit=0', 'page=x', `reason=${'x'.repeat(101)}`]) {
    const answer = await board.admin.get(`/api/users/${trader.user.id}/decisions?${query}`);
    expect(answer.statusCode, query).toBe(400);
  }
});

// Requirements: additions-overview-6
test('a run under way is neither traded nor not traded', async () => {
  await board.query("update workflow_users set outcome = 'running' where outcome = 'success'");
  await board.query("update workflows set status = 'processing' where token = 'ETH' and outcome = 'filled'");
  expect(shown(await list(trader)).at(-1)).toEqual(['ETH', 'running', null]);
  expect((await list(trader, '?outcome=traded')).total).toBe(0);
  expect((await list(trader, '?outcome=not_traded')).total).toBe(3);
  await board.query("update workflows set status = 'completed'");
});

// Requirements: additions-overview-6
test('leaves out what ran before the user existed', async () => {
  const late = await board.createUser();
  expect(await list(late)).toEqual({ decisions: [], total: 0 });
});

// Requirements: additions-overview-6
test('users read their own, and another’s answers like an unknown user’s', async () => {
  expect((await list(trader, '', trader.client)).total).toBe(4);
  const of = (id: string, client: TestClient) => client.get(`/api/users/${id}/decisions`);
  expectAnswer(await of(trader.user.id, other.client), 404, 'User not found');
  expectAnswer(await of(UNKNOWN_ID, other.client), 404, 'User not found');
  expectAnswer(await of(UNKNOWN_ID, board.admin), 404, 'User not found');
  expect((await of('none', board.admin)).statusCode).toBe(400);
  expect((await of(trader.user.id, board.anonymous)).statusCode).toBe(401);
});

// Requirements: additions-overview-6
testEveryCase('lists a signal that closes, too', async () => {
  await signal(admin, 'ETH', { action: 'close' });
  const [closing] = (await list(trader)).decisions;
  expect(closing).toMatchObject({ token: 'ETH', action: 'close', result: 'filled', reason: null });
});
