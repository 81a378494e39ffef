import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Answer } from '#test/app/test-client.ts';
import { CANDLE, createSender, SIGNAL, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

const RUNS = inject('everyCase') ? 100 : 20;

let board: World;
let sender: TestSender;

beforeAll(async () => {
  board = await startWorld({ config: { webhookRateLimit: 0 } });
  sender = await createSender({ app: board.app, client: board.admin });
});
const TABLES = 'deliveries jobs.job workflows signal_hashes signals price_log_hashes price_logs'.split(' ');
// Not `truncate`: its lock can deadlock with what the application still does after its last answer.
beforeEach(() => query(TABLES.map((table) => `delete from ${table}`).join('; ')));
afterAll(() => board.close());

const query = (statement: string, values: unknown[] = []) => board.database.pool.query(statement, values);

async function counts() {
  // Refusals beyond ten a minute are counted later.
  await board.deps.receiver.idle();
  const { rows } = await query(`select
    (select count(*)::int from signals) as signals, (select count(*)::int from workflows) as workflows,
    (select count(*)::int from signal_hashes) as hashes, (select count(*)::int from price_logs) as candles,
    (select count(*)::int from jobs.job where name = 'run-workflow') as jobs,
    (select coalesce(sum(coalesce(more_refused + more_limited, 1)), 0)::int from deliveries) as deliveries`);
  return rows[0];
}

const NOTHING = { signals: 0, workflows: 0, hashes: 0, candles: 0, jobs: 0, deliveries: 0 };
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index));
const statuses = (answers: Answer[]) => [...new Set(answers.map(({ statusCode }) => statusCode))];

describe('concurrent deliveries', () => {
  test('stores one signal, workflow and job for fifty equal signals, and answers all with its id', async () => {
    const answers = await Promise.all(times(50, () => sender.signal()));
    expect(statuses(answers)).toEqual([200]);
    expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
    expect(answers.filter((answer) => answer.json().duplicate === false)).toHaveLength(1);
    expect(await counts()).toEqual({
      ...NOTHING,
      signals: 1,
      workflows: 1,
      hashes: 1,
      jobs: 1,
      deliveries: 50,
    });
  });

  test('stores one price log for fifty equal candles', async () => {
    const answers = await Promise.all(times(50, () => sender.candle()));
    expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
    expect(answers.filter((answer) => answer.json().duplicate === false)).toHaveLength(1);
    expect(await counts()).toEqual({ ...NOTHING, candles: 1, deliveries: 50 });
  });

  test('stores two hundred different signals with a workflow and a job each', async () => {
    const answers = await Promise.all(times(200, (index) => sender.signal({ price: `${index + 1}` })));
    expect(statuses(answers)).toEqual([200]);
    expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(200);
    const all = { signals: 200, workflows: 200, hashes: 200, jobs: 200, deliveries: 200 };
    expect(await counts()).toEqual({ ...NOTHING, ...all });
    const { rows } = await query(`select count(*)::int as count from workflows
      join signals on signals.id = signal_id
      join jobs.job on data ->> 'workflowId' = workflows.id::text
      where workflows.token = signals.token and workflows.processor = signals.processor
        and trigger = 'automatic' and status = 'pending'`);
    expect(rows[0].count).toBe(200);
  });

  test('stores one of each signal that two instances receive concurrently', async () => {
    // Two receivers over one database know as little about each other as two processes.
    const { createReceiver } = await import('./receive-delivery.ts');
    const receivers = [board.deps.receiver, createReceiver(board.deps)];
    const outcomes = await Promise.all(
      times(100, (index) =>
        receivers.map((receiver) =>
          receiver.receive({
            kind: 'signal',
            key: sender.hook.hookKey,
            body: Buffer.from(JSON.stringify({ ...SIGNAL, price: `${(index * 37) % 100}.5` })),
            sourceIp: '127.0.0.1',
          }),
        ),
      ).flat(),
    );
    const isNew = outcomes.filter((one) => one.outcome === 'stored' && !one.duplicate);
    expect(isNew).toHaveLength(100);
    expect(await counts()).toMatchObject({ signals: 100, workflows: 100, jobs: 100, deliveries: 200 });
  });

  test('stores one of each candle that two instances receive concurrently, in any order', async () => {
    const { createReceiver } = await import('./receive-delivery.ts');
    const receivers = [board.deps.receiver, createReceiver(board.deps)];
    const outcomes = await Promise.all(
      receivers.flatMap((receiver, which) =>
        times(100, (index) =>
          receiver.receive({
            kind: 'candle',
            key: sender.hook.hookKey,
            body: Buffer.from(
              JSON.stringify({ ...CANDLE, Close: `${1 + (which === 0 ? index : 99 - index)}` }),
            ),
            sourceIp: '127.0.0.1',
          }),
        ),
      ),
    );
    const stored = outcomes.flatMap((one) => (one.outcome === 'stored' ? [one] : []));
    expect(stored).toHaveLength(200);
    expect(stored.filter(({ duplicate }) => !duplicate)).toHaveLength(100);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(100);
    expect(await counts()).toEqual({ ...NOTHING, candles: 100, deliveries: 200 });
  });

  test('gives each signal, candle, refusal, unknown key and repetition in a mixed batch its own answer', async () => {
    const { client } = await board.createUser();
    const other = await createSender({ app: board.app, client });
    const kinds: (() => Promise<Answer>)[] = [
      () => sender.signal(),
      () => other.signal(),
      () => sender.candle(),
      () => other.candle(),
      () => sender.signal({ action: 'hold' }),
      () => sender.send('trading_view_candler', '{'),
      () => sender.signal({}, { query: '?hkid=stranger' }),
    ];
    const answers = await Promise.all(times(70, (index) => kinds[index % kinds.length]?.()));
    const byKind = kinds.map((_, kind) => answers.filter((_answer, index) => index % kinds.length === kind));
    expect(byKind.map((some) => statuses(some.flatMap((one) => one ?? [])))).toEqual([
      [200],
      [200],
      [200],
      [200],
      [400],
      [400],
      [401],
    ]);
    const ids = byKind.slice(0, 4).map((some) => new Set(some.map((answer) => answer?.json().id)));
    expect(ids.map((set) => set.size)).toEqual([1, 1, 1, 1]);
    expect(new Set(ids.flatMap((set) => [...set])).size).toBe(4);
    expect(await counts()).toEqual({
      signals: 2,
      workflows: 2,
      hashes: 2,
      candles: 2,
      jobs: 2,
      deliveries: 60,
    });
  });

  test('stores the other deliveries when the database refuses one', async () => {
    // A table is altered only while nothing writes.
    await board.deps.receiver.idle();
    await query("alter table signals add constraint no_poison check (processor <> 'Poison')");
    await query("alter table price_logs add constraint no_poison check (processor <> 'Poison')");
    try {
      const processor = (index: number) => (index === 7 ? 'Poison' : 'Tesla');
      const answers = await Promise.all(
        times(40, (index) => {
          const fields = { processor: processor(index % 20), number: `${index}` };
          return index < 20 ? sender.signal(fields) : sender.candle(fields);
        }),
      );
      const expected = times(40, (index) => (index % 20 === 7 ? 503 : 200));
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(expected);
      expect(await counts()).toMatchObject({
        signals: 19,
        workflows: 19,
        jobs: 19,
        candles: 19,
        deliveries: 38,
      });
    } finally {
      await board.deps.receiver.idle();
      await query('alter table signals drop constraint no_poison');
      await query('alter table price_logs drop constraint no_poison');
    }
  });
});

test('ignores key order when it compares payloads, but not the webhook', async () => {
  const { client } = await board.createUser();
  const other = await createSender({ app: board.app, client });
  for (const [path, fields] of [
    ['trading_view_signal', { ...SIGNAL, inner: { a: 1, b: 2 } }],
    ['trading_view_candler', { ...CANDLE, inner: { a: 1, b: 2 } }],
  ] as const) {
    const turned = { inner: { b: 2, a: 1 }, ...Object.fromEntries(Object.entries(fields).reverse()) };
    const first = (await sender.send(path, JSON.stringify(fields))).json();
    const again = await sender.send(path, JSON.stringify({ ...turned, inner: { b: 2, a: 1 } }, null, 2));
    expect(again.json()).toEqual({ success: true, id: first.id, duplicate: true });
    const others = (await other.send(path, JSON.stringify(fields))).json();
    expect(others).toMatchObject({ duplicate: false });
    expect(others.id).not.toBe(first.id);
  }
});

test('counts data of administrators for everyone, but not data of users and former administrators', async () => {
  const user = await board.createUser();
  const former = await board.createUser({ isAdmin: true });
  const senders = [
    sender,
    await createSender({ app: board.app, client: user.client }),
    await createSender({ app: board.app, client: former.client }),
  ];
  await query('update users set is_admin = false where id = $1', [former.user.id]);
  const found: unknown[] = [];
  for (const one of senders) {
    const [signal, candle] = [(await one.signal()).json().id, (await one.candle()).json().id];
    const { rows } = await query(
      `select from_admin, owner_user_id from signals where id = $1
       union all select from_admin, owner_user_id from price_logs where id = $2`,
      [signal, candle],
    );
    found.push(rows.map((row) => [row.from_admin, row.owner_user_id]));
  }
  const admin = (await board.admin.get('/api/auth/user')).json().user.id;
  expect(found).toEqual([
    Array(2).fill([true, admin]),
    Array(2).fill([false, user.user.id]),
    Array(2).fill([false, former.user.id]),
  ]);
});

describe('arbitrary payloads', () => {
  afterEach(async () => {
    // Everything that was stored can be read back.
    for (const path of ['/api/signals?limit=1000', '/api/price-logs?limit=1000']) {
      expect((await board.admin.get(path)).statusCode).toBe(200);
    }
  });

  const nasty = fc.oneof(
    fc.jsonValue(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('constructor', '__proto__', 'toString', '\u0000', '\ud800', 'NaN', '1e400', '{{close}}'),
    fc.constantFrom(Number.MAX_VALUE, Number.MIN_VALUE, -0, 1e21, 2 ** 53 + 1),
    fc.constant({ toString: 1, valueOf: 1, toJSON: 1 }),
    fc.constant([[[[]]]]),
  );
  const names = [...Object.keys(SIGNAL), ...Object.keys(CANDLE), 'time', 'timenow', 'atr', 'constructor'];
  /** A usable payload with some fields replaced by arbitrary values. */
  const almost = (fields: object) =>
    fc
      .dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), nasty, { maxKeys: 4 })
      .map((changes) => JSON.stringify({ ...fields, ...changes }));
  const body = fc.oneof(
    { weight: 4, arbitrary: almost(SIGNAL) },
    { weight: 4, arbitrary: almost(CANDLE) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  const bytes = fc.oneof(
    { weight: 9, arbitrary: body.map((text) => Buffer.from(text)) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)) },
  );

  test('stores or refuses any payload without a server error', async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(fc.array(bytes, { minLength: 10, maxLength: 10 }), async (payloads) => {
        const answers = await Promise.all(
          payloads.flatMap((payload) => [
            sender.send('trading_view_signal', payload),
            sender.send('trading_view_candler', payload),
          ]),
        );
        for (const { statusCode } of answers) {
          expect([200, 400]).toContain(statusCode);
          seen.set(statusCode, (seen.get(statusCode) ?? 0) + 1);
        }
      }),
      { numRuns: RUNS },
    );
    // Both outcomes occurred.
    expect(seen.get(200)).toBeGreaterThan(RUNS / 2);
    expect(seen.get(400)).toBeGreaterThan(RUNS / 2);
  });
});
