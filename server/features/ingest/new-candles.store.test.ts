import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Webhook } from '#contract/hooks.ts';
import { fakeClock } from '#test/fake-clock.ts';
import { startTestApp, type TestApp } from '#test/test-app.ts';
import type { Answer } from '#test/test-client.ts';
import { createSender } from '#test/test-sender.ts';

let board: TestApp;
let price = 0;
const clock = fakeClock(new Date());

beforeAll(async () => {
  board = await startTestApp({ clock, config: { webhookRateLimit: 0 } });
});
afterAll(() => board.close());

/** A webhook whose key the receiver knows, since a candle has come through it. */
async function knownSender(options: { isAdmin?: boolean } = {}) {
  const { client, user, password } = await board.createUser(options);
  const sender = await createSender({ app: board.app, client });
  const candle = (query?: string) => {
    price += 1;
    return sender.candle({ Close: String(price) }, query === undefined ? {} : { query });
  };
  expect((await candle()).statusCode).toBe(200);
  return { client, user, password, hook: sender.hook, sender, candle };
}

const rowsOf = async (statement: string, values: unknown[]) =>
  (await board.database.pool.query(statement, values)).rows;
const statuses = (answers: Answer[]) => answers.map(({ statusCode }) => statusCode);

test('the old key of a renewed webhook opens nothing any more, however well it was known', async () => {
  const { client, password, hook, candle } = await knownSender();
  const old = `?hkid=${hook.hookKey}`;
  const renewed = (
    await client.put(`/api/hooks/${hook.id}`, { generateNewKey: true, password })
  ).json<Webhook>();
  expect(renewed.hookKey).toEqual(expect.stringMatching(/^[\w-]{43}$/));
  const fresh = `?hkid=${renewed.hookKey}`;
  expect((await candle(fresh)).statusCode).toBe(200);
  // Both are remembered for the same webhook now, and come in one batch.
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => candle(i % 2 === 0 ? old : fresh)));
  expect(statuses(answers)).toEqual(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 401 : 200)));
  expect((await candle(old)).statusCode).toBe(401);
  const [{ count }] = await rowsOf('select count(*)::int as count from price_logs where hook_id = $1', [
    hook.id,
  ]);
  expect(count).toBe(22);
});

test('a deleted webhook takes nothing any more', async () => {
  const { client, password, hook, candle } = await knownSender();
  const removed = await client.delete(`/api/hooks/${hook.id}`, { password });
  expect(removed.statusCode).toBe(200);
  expect(statuses(await Promise.all([candle(), candle(), candle()]))).toEqual([401, 401, 401]);
});

test('an administrator who is deactivated sends for nobody else from the next candle on', async () => {
  const { user, candle } = await knownSender({ isAdmin: true });
  const before = (await candle()).json().id;
  await board.admin.patch(`/api/admin/users/${user.id}/deactivate`);
  const after = (await candle()).json().id;
  const rows = await rowsOf('select id, from_admin from price_logs where id = any($1) order by id', [
    [before, after],
  ]);
  expect(rows).toEqual([
    { id: before, from_admin: true },
    { id: after, from_admin: false },
  ]);
});

test('a new candle and its repetitions each have their line in the log', async () => {
  const { hook, sender } = await knownSender();
  const same = () => sender.candle({ Close: '0.5' });
  const answers = [await same(), ...(await Promise.all([same(), same()])), await same()];
  const { id } = answers[0]?.json() ?? {};
  expect(answers.map((answer) => answer.json())).toEqual(
    [false, true, true, true].map((duplicate) => ({ success: true, id, duplicate })),
  );
  const lines = await rowsOf(
    'select kind, result, record_id from deliveries where hook_id = $1 order by id offset 1',
    [hook.id],
  );
  expect(lines).toEqual(
    ['stored', 'duplicate', 'duplicate', 'duplicate'].map((result) => ({
      kind: 'candle',
      result,
      record_id: id,
    })),
  );
});

test('whatever characters a candle brings along are kept as they came, also among others', async () => {
  const { sender } = await knownSender();
  const notes = ['a "quoted" note', 'back\\slash', 'a,b}{', 'between\u001eus', 'NULL', '', 'naïve ₿', '\t\n'];
  const answers = await Promise.all(notes.map((note) => sender.candle({ Close: '0.25', note })));
  expect(statuses(answers)).toEqual(notes.map(() => 200));
  const rows = await rowsOf('select id, parameters from price_logs where id = any($1)', [
    answers.map((answer) => answer.json().id),
  ]);
  const noteOf = new Map(rows.map(({ id, parameters }) => [id, parameters.note]));
  expect(answers.map((answer) => noteOf.get(answer.json().id))).toEqual(notes);
});

test('a stored candle is answered so even if the last use of its webhook cannot be written down', async () => {
  const { hook, candle } = await knownSender();
  const { pool } = board.database;
  await pool.query(
    `create function refuse() returns trigger language plpgsql as 'begin raise ''refused''; end'`,
  );
  await pool.query('create trigger refuse before update on hooks for each row execute function refuse()');
  try {
    clock.advance(31_000);
    expect((await candle()).statusCode).toBe(200);
    await expect.poll(() => board.logged()).toContain("a webhook's last use could not be written down");
  } finally {
    await pool.query('drop function refuse cascade');
  }
  expect(await rowsOf('select id from price_logs where hook_id = $1', [hook.id])).toHaveLength(2);
});
