import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Delivery } from '#contract/hooks.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import type { Answer } from '#test/app/test-client.ts';
import { createSender, SIGNAL, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { createReceiver } from './receive-delivery.ts';

let board: World;
let price = 0;
const clock = fakeClock(new Date());

beforeAll(async () => {
  board = await startWorld({ clock });
});
afterAll(() => board.close());

const UNKNOWN = { success: false, message: 'Unknown webhook key' };

/** A webhook whose key the receiver already knows from a delivery. */
async function knownSender(fields: { isAdmin?: boolean } = {}): Promise<TestUser & { sender: TestSender }> {
  const owner = await board.createUser(fields);
  const sender = await createSender({ app: board.app, client: owner.client });
  expect((await sendNew(sender, 'signal')).statusCode).toBe(200);
  return { ...owner, sender };
}

/** Sends from a separate address: too many wrong keys from one address get another answer. */
function sendNew(sender: TestSender, kind: 'signal' | 'candle'): Promise<Answer> {
  price += 1;
  const from = { remoteAddress: `10.0.${price >> 8}.${price & 255}` };
  return kind === 'signal' ? sender.signal({ price }, from) : sender.candle({ Close: price }, from);
}

const setActive = (userId: string, isActive: boolean) =>
  board.admin.put(`/api/admin/user/${userId}/status`, { isActive });

const suspend = (hookId: string, suspended: boolean) =>
  board.admin.put(`/api/admin/hooks/${hookId}`, { suspended });

const rowsOf = async (statement: string, values: unknown[]) =>
  (await board.database.pool.query(statement, values)).rows;

const countOf = async (table: string, hookId: string): Promise<number> =>
  (await rowsOf(`select count(*)::int as count from ${table} where hook_id = $1`, [hookId]))[0].count;

function expectUnknown(answer: Answer) {
  expect([answer.statusCode, answer.json()]).toEqual([401, UNKNOWN]);
}

describe.each(['signal', 'candle'] as const)('a %s', (kind) => {
  const table = kind === 'signal' ? 'signals' : 'price_logs';

  test('to the webhook of a deactivated user is answered like an unknown key, and stored after the reactivation', async () => {
    const { user, sender } = await knownSender();
    const before = await countOf(table, sender.hook.id);
    await setActive(user.id, false);
    expectUnknown(await sendNew(sender, kind));
    const many = await Promise.all(Array.from({ length: 5 }, () => sendNew(sender, kind)));
    for (const answer of many) expectUnknown(answer);
    expect(await countOf(table, sender.hook.id)).toBe(before);

    await setActive(user.id, true);
    expect((await sendNew(sender, kind)).statusCode).toBe(200);
    expect(await countOf(table, sender.hook.id)).toBe(before + 1);
  });

  test('to a suspended webhook is answered like an unknown key, whatever happens to its owner', async () => {
    const { user, sender } = await knownSender();
    const before = await countOf(table, sender.hook.id);
    expect((await suspend(sender.hook.id, true)).statusCode).toBe(200);
    expectUnknown(await sendNew(sender, kind));
    await setActive(user.id, false);
    await setActive(user.id, true);
    expectUnknown(await sendNew(sender, kind));
    expect((await suspend(sender.hook.id, false)).statusCode).toBe(200);
    expect((await sendNew(sender, kind)).statusCode).toBe(200);
    expect(await countOf(table, sender.hook.id)).toBe(before + 1);
  });

  test('of a former administrator is only for that user', async () => {
    const { user, sender } = await knownSender({ isAdmin: true });
    const before = (await sendNew(sender, kind)).json().id;
    await board.database.pool.query('update users set is_admin = false where id = $1', [user.id]);
    const after = (await sendNew(sender, kind)).json().id;
    const rows = await rowsOf(`select id, from_admin from ${table} where id = any($1) order by id`, [
      [before, after],
    ]);
    expect(rows).toEqual([
      { id: before, from_admin: true },
      { id: after, from_admin: false },
    ]);
  });

  test('is refused by an instance that knew the key before its owner was deactivated elsewhere', async () => {
    const { user, sender } = await knownSender();
    const elsewhere = createReceiver(board.deps);
    const deliver = async () => {
      price += 1;
      const fields =
        kind === 'signal' ? { ...SIGNAL, price } : { Timeframe: '15', Symbol: 'BTC', Close: price };
      const body = Buffer.from(JSON.stringify({ DateTime: '202601020300', ...fields }));
      return (await elsewhere.receive({ kind, key: sender.hook.hookKey, body, sourceIp: '::1' })).outcome;
    };
    expect(await deliver()).toBe('stored');
    await setActive(user.id, false);
    expect(await deliver()).toBe('suspended');
    await elsewhere.idle();
  });
});

describe('a delivery to a suspended webhook', () => {
  const REASON = 'The webhook is suspended';

  const refusalsOf = async (owner: TestUser, hookId: string) => {
    const answer = await owner.client.get(`/api/hooks/${hookId}/deliveries`);
    return answer.json<Delivery[]>().filter(({ result }) => result === 'refused');
  };

  test('is logged as refused, with kind and address and without its content', async () => {
    const owner = await knownSender();
    const { sender } = owner;
    await suspend(sender.hook.id, true);
    await sender.candle({ Close: '77' }, { remoteAddress: '203.0.113.7' });
    await sender.send('trading_view_signal', 'not even JSON');
    await board.deps.receiver.idle();
    const lines = await refusalsOf(owner, sender.hook.id);
    expect(lines).toMatchObject([
      { kind: 'signal', result: 'refused', reason: REASON },
      { kind: 'candle', result: 'refused', reason: REASON, sourceIp: '203.0.113.7' },
    ]);
  });

  test('is logged at most ten times a minute with one row for the rest, and does not count as a use', async () => {
    const owner = await knownSender();
    const { sender } = owner;
    await suspend(sender.hook.id, true);
    clock.advance(60_000);
    const lastUse = async () => (await owner.client.get('/api/hooks')).json()[0].lastUsedAt;
    const usedBefore = await lastUse();
    for (let count = 1; count <= 15; count += 1) expectUnknown(await sendNew(sender, 'signal'));
    await board.deps.receiver.idle();
    expect(await refusalsOf(owner, sender.hook.id)).toHaveLength(11);
    clock.advance(60_000);
    expectUnknown(await sendNew(sender, 'signal'));
    await board.deps.receiver.idle();
    expect(await refusalsOf(owner, sender.hook.id)).toHaveLength(12);
    expect(await lastUse()).toBe(usedBefore);
  });

  test('is answered even if it cannot be logged', async () => {
    const { sender } = await knownSender();
    await suspend(sender.hook.id, true);
    const { pool } = board.database;
    // A table is altered only while nothing writes.
    await board.deps.receiver.idle();
    await pool.query(`alter table deliveries add constraint none check (reason <> '${REASON}') not valid`);
    try {
      expectUnknown(await sendNew(sender, 'signal'));
      await board.deps.receiver.idle();
    } finally {
      await board.deps.receiver.idle();
      await pool.query('alter table deliveries drop constraint none');
    }
    expect(board.logged()).toContain('refused deliveries could not be written down');
  });
});

test('tells the sender of a test delivery that the webhook is suspended', async () => {
  const { client, sender } = await knownSender();
  await suspend(sender.hook.id, true);
  const answer = await client.post(`/api/hooks/${sender.hook.id}/test-deliveries`, {
    kind: 'signal',
    payload: SIGNAL,
  });
  expect([answer.statusCode, answer.json().message]).toEqual([
    409,
    'An administrator suspended this webhook',
  ]);
});
