import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import type { Webhook } from '#contract/hooks.ts';
import { checkSecretKey } from '#server/admin/hooks/check-secret-key.ts';
import { createHookKey, hashHookKey } from '#server/admin/hooks/hook-keys.ts';
import { openConfig } from '#server/alerts/channel-config.ts';
import { writeDecisions } from '#server/engine/records/decisions.store.ts';
import { readAuditKey } from '#server/platform/audit/audit-key.ts';
import { systemClock } from '#server/platform/clock.ts';
import { drizzleOn } from '#server/platform/db/drizzle-over.ts';
import { notificationChannels } from '#server/platform/db/schema.ts';
import { createSecretBox, type RotatingBox } from '#server/platform/secret-box.ts';
import { keyCheckOf, readKeyState } from '#server/platform/secret-keys/key-state.ts';
import { createInstanceReport } from '#server/platform/secret-keys/report-instance.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { enrolTotp, type TestAuthenticator } from '#test/app/second-factors.ts';
import { SIGNAL } from '#test/app/test-sender.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { rotateSecret } from './rotate-secret.ts';
import { SEALED_KINDS } from './sealed-kinds.ts';

const ONE = 'the first secret key of this test, long enough';
const TWO = 'the second secret key of the test, long enough';
const KEYS = { secretKey: ONE, nextKey: TWO };
const API_KEYS = {
  exchangePlatform: 'Bitget',
  apiKey: 'the-api-key',
  apiSecret: 'the-secret',
  passphrase: 'the-passphrase',
};
const CHANNEL = { kind: 'slack', name: 'Ops', config: { url: 'https://hooks.example.com/the-secret' } };
const RECORD = { mode: 'paper', constants: 'x', settings: { portion: '5' } };
const NAMES = Object.values(SEALED_KINDS).map(({ name }) => name);

let board: World;
let user: TestUser;
let hook: Webhook;
let authenticator: TestAuthenticator;
let stopReport: () => Promise<void>;
let sent = 0;

/** An instance on the board's database that knows these keys. */
async function startReport(
  instanceId: string,
  keys: { secretKey: string; nextKey: string | null },
  box: RotatingBox,
) {
  const report = createInstanceReport({
    clock: systemClock,
    db: board.database.db,
    log: board.deps.log,
    instanceId,
    keys,
    secretBox: box,
    beatMs: 10,
  });
  await report.register();
  await report.start();
  return report.stop;
}

beforeAll(async () => {
  board = await startWorld({ config: { secretKey: ONE, secretKeyNext: TWO, instanceId: 'one' } });
  const { db } = board.database;
  await checkSecretKey({ db, keys: KEYS, replace: false, log: board.deps.log });
  stopReport = await startReport('one', KEYS, board.deps.secretBox as RotatingBox);
  user = await board.createUser();
  hook = (await user.client.post('/api/hooks', {})).json();
  await user.client.put('/api/user-settings/exchange-credentials', API_KEYS);
  authenticator = await enrolTotp(user.client, systemClock);
  await user.client.post('/api/notification-channels', CHANNEL);
  expect((await deliver()).statusCode).toBe(200);
  const [workflow] = await board.query('select id from workflows');
  const made = [{ workflowId: workflow?.id, userId: user.user.id, record: RECORD }];
  await db.transaction((tx) => writeDecisions(tx, { secretBox: board.deps.secretBox, made }));
});
afterAll(async () => {
  await stopReport();
  await board.close();
});

function deliver(key = hook.hookKey) {
  sent += 1;
  const payload = { ...SIGNAL, symbol: `T${sent}USDT`, time: new Date().toISOString() };
  return board.anonymous.post(`/hooks/trading_view_signal?hkid=${key}`, payload);
}

/** A connection of the command that dies at its n-th statement. */
async function connect(dieAt = Number.POSITIVE_INFINITY) {
  const client = new pg.Client(board.database.connection);
  client.on('error', () => {});
  await client.connect();
  const send = client.query.bind(client) as (...values: unknown[]) => unknown;
  let count = 0;
  client.query = ((...values: unknown[]) => {
    count += 1;
    if (count >= dieAt) {
      const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
      stream.destroy();
    }
    return send(...values);
  }) as never;
  return { db: drizzleOn(client), end: () => client.end().catch(() => {}), statements: () => count };
}

async function rotate(keys = KEYS, { dieAt, patienceMs }: { dieAt?: number; patienceMs?: number } = {}) {
  const { db, end, statements } = await connect(dieAt);
  try {
    const kinds = await rotateSecret({ db, clock: systemClock, keys, ...(patienceMs ? { patienceMs } : {}) });
    return { kinds, statements: statements() };
  } finally {
    await end();
  }
}

/** How many secrets of each kind a key opens; changes nothing. */
async function countUnder(key: string): Promise<Record<string, number>> {
  const next = createSecretBox(key);
  const none = createSecretBox('a key under which nothing is sealed at all');
  const counts = await Promise.all(
    Object.values(SEALED_KINDS).map(async ({ name, pass }) => {
      const { done } = await pass(board.database.db, { former: none, next });
      return [name, done] as const;
    }),
  );
  return Object.fromEntries(counts);
}

const ofEach = (count: number) => Object.fromEntries(NAMES.map((name) => [name, count]));
const auditKeyUnder = (key: string) =>
  readAuditKey({ db: board.database.db, secretBox: createSecretBox(key) });
const stateOf = () => readKeyState(board.database.db);

/** Everything can be read and used, whichever key it is under. */
async function expectEverythingToWork(): Promise<void> {
  expect((await deliver()).statusCode).toBe(200);
  const test = await user.client.post(`/api/hooks/${hook.id}/test-deliveries`, {
    kind: 'signal',
    payload: { ...SIGNAL, time: new Date().toISOString() },
  });
  expect(test.json(), test.body).toMatchObject({ success: true });
  const [shown] = (await board.admin.get('/api/admin/hooks')).json().hooks;
  expect(shown.hookKey).toBe(`${hook.hookKey.slice(0, 4)}…`);
  const credentials = (await user.client.get('/api/user-settings/exchange-credentials')).json();
  expect(credentials).toMatchObject({ state: 'ready' });
  const [channel] = await board.database.db.select().from(notificationChannels);
  if (channel === undefined) throw new Error('there is no channel');
  expect(openConfig(board.deps.secretBox, channel)).toMatchObject(CHANNEL.config);
  // Each code is accepted once.
  await board.query('update totp_factors set last_step = null');
  const code = authenticator.code();
  expect((await user.client.post('/api/auth/step-up', { code })).statusCode).toBe(200);
  const [signal] = await board.query(
    'select signal_id as id from workflows where id = (select workflow_id from decisions)',
  );
  const { differing } = (await board.admin.post(`/api/signals/${signal?.id}/verify`, {})).json();
  const changed = differing.filter(({ computed }: { computed: unknown }) => computed === null);
  expect(changed).toEqual([]);
}

test('writes under the current key until a rotation begins, also on an instance that knows the next one', async () => {
  expect(await countUnder(ONE)).toEqual(ofEach(1));
  expect(await countUnder(TWO)).toEqual(ofEach(0));
  await expectEverythingToWork();
});

// Requirements: settings-of-the-program-14
test('re-seals every kind while the program runs, counts them and records it', async () => {
  const auditKey = await auditKeyUnder(ONE);
  const { kinds } = await rotate();
  expect(await auditKeyUnder(TWO), 'the trail goes on with its key').toEqual(auditKey);
  expect(kinds).toEqual(NAMES.map((name) => ({ name, total: 1, resealed: 1, unreadable: 0 })));
  expect(await countUnder(ONE)).toEqual(ofEach(0));
  expect(await countUnder(TWO)).toEqual(ofEach(1));
  expect(await board.query('select key_hash from hooks')).toEqual([
    { key_hash: hashHookKey(createSecretBox(TWO), hook.hookKey) },
  ]);
  await expectEverythingToWork();
  expect(await stateOf()).toMatchObject({ keyCheck: keyCheckOf(TWO), nextKeyCheck: null });
  const entries = await board.query(
    `select actor_kind, actor_name, after from audit_log where action = 'secret key rotated'`,
  );
  expect(entries).toEqual([{ actor_kind: 'command', actor_name: 'npm run rotate-secret', after: ofEach(1) }]);
});

test('finds nothing to do when it runs again, and new secrets stay under the new key', async () => {
  const { kinds } = await rotate();
  expect(kinds.map(({ resealed }) => resealed)).toEqual(NAMES.map(() => 0));
  expect((await user.client.put('/api/user-settings/exchange-credentials', API_KEYS)).statusCode).toBe(200);
  expect(await countUnder(TWO)).toEqual(ofEach(1));
  const entries = await board.query(`select from audit_log where action = 'secret key rotated'`);
  expect(entries).toHaveLength(1);
});

test('starts with the new key alone afterwards, and refuses the former one alone', async () => {
  const check = (secretKey: string, nextKey: string | null = null) =>
    checkSecretKey({
      db: board.database.db,
      keys: { secretKey, nextKey },
      replace: false,
      log: board.deps.log,
    });
  expect(await check(TWO)).toBe('known');
  expect(await check(TWO, TWO)).toBe('known');
  expect(await check(ONE, TWO)).toBe('known');
  await expect(check(ONE)).rejects.toThrow('is not the one that this database was sealed with');
  const former = await board.buildInstance({ secretKeyNext: null, instanceId: 'former' });
  onTestFinished(() => former.stop());
  await expect(former.start({ background: [] })).rejects.toThrow(
    'is not the one that this database was sealed with',
  );
});

test('survives being killed at every statement, and goes on when it runs again', async () => {
  let [from, to] = [TWO, ONE];
  let dieAt = 1;
  for (; ; dieAt += inject('everyCase') ? 1 : 12) {
    const keys = { secretKey: from, nextKey: to };
    const survived = await rotate(keys, { dieAt }).then(
      () => true,
      () => false,
    );
    if (survived) break;
    await expectEverythingToWork();
    await rotate(keys);
    expect(await countUnder(from), `statement ${dieAt}`).toEqual(ofEach(0));
    expect(await countUnder(to), `statement ${dieAt}`).toEqual(ofEach(1));
    await expectEverythingToWork();
    [from, to] = [to, from];
  }
  expect(dieAt).toBeGreaterThan(25);
  if (to === ONE) await rotate();
  expect(await countUnder(TWO)).toEqual(ofEach(1));
});

describe('with everything under the second key', () => {
  const BACK = { secretKey: TWO, nextKey: ONE };
  const THREE = 'a third secret key that this test brings, long';

  /** Leaves a rotation from the second key to the first one behind, after its beginning. */
  async function beginRotation(): Promise<void> {
    await board.query('update secret_key_checks set next_key_check = $1', [keyCheckOf(ONE)]);
    onTestFinished(async () => {
      await board.query('update secret_key_checks set key_check = $1, next_key_check = null', [
        keyCheckOf(TWO),
      ]);
      await expect.poll(() => (board.deps.secretBox as RotatingBox).sealsUnderNext()).toBe(true);
    });
  }

  test('refuses to begin while an instance does not know the next key', async () => {
    const keys = { secretKey: TWO, nextKey: null };
    const stop = await startReport('without', keys, createSecretBox(TWO));
    await expect(rotate(BACK)).rejects.toThrow('without does not know the new key: start every instance');
    expect(await stateOf()).toMatchObject({ nextKeyCheck: null });
    await stop();
    // A program of a version that does not report its keys.
    await board.query(`insert into engine_workers values ('older', 'w', true, 0, 1, 0, null, now(), now())`);
    await expect(rotate(BACK)).rejects.toThrow('older does not know the new key');
    await board.query(`update engine_workers set heartbeat_at = now() - interval '1 minute'`);
    await board.query(
      `insert into instances values ('killed', $1, null, false, now() - interval '1 minute')`,
      [keyCheckOf(TWO)],
    );
    await rotate(BACK);
    await rotate();
  });

  test('refuses another key than the database has, and another next key than a rotation has begun with', async () => {
    await expect(rotate({ secretKey: THREE, nextKey: ONE })).rejects.toThrow('is not the one');
    await beginRotation();
    await expect(rotate({ secretKey: TWO, nextKey: THREE })).rejects.toThrow(
      'A rotation to another key has begun',
    );
  });

  test('refuses a second run beside the first', async () => {
    const first = await connect();
    onTestFinished(first.end);
    await first.db.execute('select pg_advisory_lock(7305003)');
    await expect(rotate(BACK, { patienceMs: 1 })).rejects.toThrow('Another npm run rotate-secret is running');
  });

  test('gives up when an instance does not take the next key into use', async () => {
    await board.query(`insert into instances values ('stuck', $1, $2, false, now())`, [
      keyCheckOf(TWO),
      keyCheckOf(ONE),
    ]);
    await beginRotation();
    await expect(rotate(BACK, { patienceMs: 1 })).rejects.toThrow('Not all instances have taken the new key');
    await board.query(`delete from instances where instance_id = 'stuck'`);
  });

  test('needs both keys at a start while a rotation is not finished', async () => {
    await beginRotation();
    const check = (secretKey: string, nextKey: string | null) =>
      checkSecretKey({
        db: board.database.db,
        keys: { secretKey, nextKey },
        replace: false,
        log: board.deps.log,
      });
    await expect(check(TWO, null)).rejects.toThrow('start with that key in SECRET_KEY_NEXT');
    await expect(check(ONE, null)).rejects.toThrow('The rotation of SECRET_KEY is not finished');
    await expect(check(TWO, THREE)).rejects.toThrow('start with that key in SECRET_KEY_NEXT');
    expect(await check(TWO, ONE)).toBe('known');
  });

  testEveryCase('waits for a transaction that may have sealed under the former key', async () => {
    const client = new pg.Client({ ...board.database.connection, application_name: 'signal-board' });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    const renewed = createHookKey(createSecretBox(TWO), { id: hook.id, userId: user.user.id });
    const rotation = rotate(BACK);
    await expect.poll(() => (board.deps.secretBox as RotatingBox).sealsUnderNext()).toBe(false);
    // It asks again and again.
    const asked = new Set<string>();
    await expect
      .poll(async () => {
        const rows = await board.query(
          'select query_start::text as at from pg_stat_activity where datname = current_database() and query like $1',
          ['%xact_start <= $%'],
        );
        for (const { at } of rows) asked.add(at);
        return asked.size;
      })
      .toBeGreaterThan(1);
    await client.query('update hooks set key_sealed = $1, key_hash = $2 where id = $3', [
      renewed.keySealed,
      renewed.keyHash,
      hook.id,
    ]);
    await client.query('commit');
    hook = { ...hook, hookKey: renewed.key };
    await rotation;
    expect(await countUnder(ONE)).toEqual(ofEach(1));
    await expectEverythingToWork();
    await rotate();
  });

  testEveryCase('lets a change win that is made at the same time', async () => {
    const boxes = { former: createSecretBox(TWO), next: createSecretBox(ONE) };
    const other = createHookKey(boxes.former, { id: hook.id, userId: user.user.id });
    const client = new pg.Client(board.database.connection);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('begin');
    await client.query('update hooks set key_sealed = $1, key_hash = $2 where id = $3', [
      other.keySealed,
      other.keyHash,
      hook.id,
    ]);
    const pass = SEALED_KINDS['webhook-key'].pass(board.database.db, boxes);
    await expect.poll(() => countWaitingForLocks(board.database.db)).toBe(1);
    await client.query('commit');
    expect(await pass).toEqual({ done: 0, resealed: 0, busy: 1, unreadable: 0 });
    hook = { ...hook, hookKey: other.key };
    await expectEverythingToWork();
  });

  test('leaves what neither key opens, and does not seal a changed record anew', async () => {
    const [former] = await board.query('select record, seals from decisions');
    await board.query(`update decisions set record = record || '{"mode": "live"}'`);
    await board.query(`update exchange_credentials set sealed = 'v1.' || repeat('A', 80)`);
    const { kinds } = await rotate(BACK);
    const found = new Map(kinds.map(({ name, ...counts }) => [name, counts]));
    expect(found.get('exchange credentials')).toEqual({ total: 0, resealed: 0, unreadable: 1 });
    expect(found.get('decision records')).toEqual({ total: 0, resealed: 1, unreadable: 1 });
    const [after] = await board.query('select record, seals from decisions');
    const changed = Object.keys(former?.seals).filter(
      (field) => former?.seals[field] !== after?.seals[field],
    );
    expect(changed.toSorted()).toEqual(['constants', 'settings']);
    await board.query('update decisions set record = $1', [RECORD]);
    expect((await user.client.put('/api/user-settings/exchange-credentials', API_KEYS)).statusCode).toBe(200);
    await rotate();
  });
});
