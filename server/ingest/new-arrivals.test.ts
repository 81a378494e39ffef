import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Webhook } from '#contract/hooks.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import type { Answer } from '#test/app/test-client.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

let board: World;
let price = 0;
const clock = fakeClock(new Date());

beforeAll(async () => {
  board = await startWorld({ clock, config: { webhookRateLimit: 0 } });
});
afterAll(() => board.close());

const rowsOf = async (statement: string, values: unknown[]) =>
  (await board.database.pool.query(statement, values)).rows;
const statuses = (answers: Answer[]) => answers.map(({ statusCode }) => statusCode);

describe.each([
  { kind: 'candle', table: 'price_logs', priceField: 'Close' },
  { kind: 'signal', table: 'signals', priceField: 'price' },
] as const)('$kind', ({ kind, table, priceField }) => {
  /** A webhook whose key the receiver already knows from a delivery. */
  async function knownSender(options: { isAdmin?: boolean } = {}) {
    const { client, user, password } = await board.createUser(options);
    const sender = await createSender({ app: board.app, client });
    // A separate address for each: too many wrong keys from one address get another answer.
    const send = (fields: Record<string, string>, query?: string) =>
      sender[kind](fields, {
        remoteAddress: `10.0.0.${price % 256}`,
        ...(query === undefined ? {} : { query }),
      });
    const sendNew = (query?: string) => {
      price += 1;
      return send({ [priceField]: String(price) }, query);
    };
    expect((await sendNew()).statusCode).toBe(200);
    return { client, user, password, hook: sender.hook, send, sendNew };
  }

  test('refuses the old key of a renewed webhook, even when it was cached', async () => {
    const { client, password, hook, sendNew } = await knownSender();
    const old = `?hkid=${hook.hookKey}`;
    const renewed = (
      await client.put(`/api/hooks/${hook.id}`, { generateNewKey: true, password })
    ).json<Webhook>();
    expect(renewed.hookKey).toEqual(expect.stringMatching(/^[\w-]{43}$/));
    const fresh = `?hkid=${renewed.hookKey}`;
    expect((await sendNew(fresh)).statusCode).toBe(200);
    // Both keys are now remembered for the same webhook, and arrive in one batch.
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) => sendNew(i % 2 === 0 ? old : fresh)),
    );
    expect(statuses(answers)).toEqual(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 401 : 200)));
    expect((await sendNew(old)).statusCode).toBe(401);
    const [{ count }] = await rowsOf(`select count(*)::int as count from ${table} where hook_id = $1`, [
      hook.id,
    ]);
    expect(count).toBe(22);
  });

  test('refuses deliveries to a deleted webhook', async () => {
    const { client, password, hook, sendNew } = await knownSender();
    const removed = await client.delete(`/api/hooks/${hook.id}`, { password });
    expect(removed.statusCode).toBe(200);
    expect(statuses(await Promise.all([sendNew(), sendNew(), sendNew()]))).toEqual([401, 401, 401]);
  });

  test('logs the first delivery and each repetition', async () => {
    const { hook, send } = await knownSender();
    const same = () => send({ [priceField]: '0.5' });
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
        kind,
        result,
        record_id: id,
      })),
    );
  });

  test('keeps all characters of a delivery, alone and in a batch', async () => {
    const { send } = await knownSender();
    const notes = [
      'a "quoted" note',
      'back\\slash',
      'a,b}{',
      'between\u001eus',
      'NULL',
      '',
      'naïve ₿',
      '\t\n',
    ];
    const answers = await Promise.all(notes.map((note) => send({ [priceField]: '0.25', note })));
    expect(statuses(answers)).toEqual(notes.map(() => 200));
    const rows = await rowsOf(`select id, parameters from ${table} where id = any($1)`, [
      answers.map((answer) => answer.json().id),
    ]);
    const noteOf = new Map(rows.map(({ id, parameters }) => [id, parameters.note]));
    expect(answers.map((answer) => noteOf.get(answer.json().id))).toEqual(notes);
  });

  test('answers 200 for a stored delivery even if the last use of its webhook cannot be written', async () => {
    const { hook, sendNew } = await knownSender();
    const { pool } = board.database;
    await pool.query(
      `create function refuse() returns trigger language plpgsql as 'begin raise ''refused''; end'`,
    );
    await pool.query('create trigger refuse before update on hooks for each row execute function refuse()');
    try {
      clock.advance(31_000);
      expect((await sendNew()).statusCode).toBe(200);
      await expect.poll(() => board.logged()).toContain("a webhook's last use could not be written down");
    } finally {
      await pool.query('drop function refuse cascade');
    }
    expect(await rowsOf(`select id from ${table} where hook_id = $1`, [hook.id])).toHaveLength(2);
  });
});

test.each([
  ['is renewed', `update hooks set key_hash = 'another' where id = $1`],
  [
    'loses its active owner',
    'update users set is_active = false where id = (select user_id from hooks where id = $1)',
  ],
])(
  'refuses deliveries on their way to a webhook that %s, and stores the rest of the batch',
  async (_, change) => {
    const limited = await startWorld({ config: { webhookRateLimit: 1000 } });
    try {
      const senders = [];
      for (let count = 1; count <= 2; count += 1) {
        const { client } = await limited.createUser();
        senders.push(await createSender({ app: limited.app, client }));
      }
      const { pool } = limited.database;
      const other = await pool.connect();
      // The receiver reads what other instances took after it finds the webhook and before it stores.
      await other.query('begin; lock deliveries in access exclusive mode');
      const answers = senders.flatMap((sender) => [sender.signal(), sender.candle()]);
      const blocked = `select from pg_locks where not granted and relation = 'deliveries'::regclass`;
      await expect.poll(async () => (await pool.query(blocked)).rowCount).toBeGreaterThan(0);
      await other.query(change, [senders[0]?.hook.id]);
      await other.query('commit');
      other.release();
      expect(statuses(await Promise.all(answers))).toEqual([401, 401, 200, 200]);
    } finally {
      await limited.close();
    }
  },
);

test('does not store a signal whose job cannot be sent, and stores it when it is sent again', async () => {
  const { client } = await board.createUser();
  const sender = await createSender({ app: board.app, client });
  const { pool } = board.database;
  await sender.candle();
  const signal = () => sender.signal({ number: 'without a job' });
  // A table is altered only while nothing writes.
  await board.deps.receiver.idle();
  await pool.query(
    `alter table jobs.job_common add constraint none check (name <> 'run-workflow') not valid`,
  );
  try {
    expect(await signal()).toMatchObject({ statusCode: 503 });
  } finally {
    await board.deps.receiver.idle();
    await pool.query('alter table jobs.job_common drop constraint none');
  }
  const counted = `select (select count(*)::int from signals where hook_id = $1) as signals,
    (select count(*)::int from deliveries where hook_id = $1 and kind = 'signal') as lines`;
  expect(await rowsOf(counted, [sender.hook.id])).toEqual([{ signals: 0, lines: 0 }]);
  expect((await signal()).json()).toMatchObject({ success: true, duplicate: false });
  expect(await rowsOf(counted, [sender.hook.id])).toEqual([{ signals: 1, lines: 1 }]);
});

test('calls the workflows of signals for everybody before those of own signals', async () => {
  const senders = [];
  for (const isAdmin of [false, true]) {
    const { client } = await board.createUser({ isAdmin });
    senders.push(await createSender({ app: board.app, client }));
  }
  const answers = await Promise.all(
    senders.flatMap((sender, index) =>
      [1, 2].map((one) => sender.signal({ number: `turn ${index} ${one}` })),
    ),
  );
  expect(statuses(answers)).toEqual([200, 200, 200, 200]);
  const calls = await rowsOf(
    `select not from_admin as own from jobs.job join workflows on workflows.id::text = data ->> 'workflowId'
     join signals on signals.id = signal_id
     where name = 'run-workflow' and hook_id = any($1) order by priority desc, created_on`,
    [senders.map(({ hook }) => hook.id)],
  );
  expect(calls.map(({ own }) => own)).toEqual([false, false, true, true]);
});
