import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { spawnProgram, startServerProcess } from '#test/app/test-server-process.ts';
import {
  ADMIN,
  call,
  databaseUrl,
  hookKey,
  instances,
  NAMES,
  query,
  signIn,
  startInstance,
  startInstances,
  stopInstances,
} from '#test/world/processes.ts';
import { SECRET_KEY } from '#test/world/programs.ts';
import { createHookKey, hashHookKey } from './admin/hooks/hook-keys.ts';
import { createSecretBox } from './platform/secret-box.ts';

const NEXT_KEY = 'another secret key of the tests, long enough';
const COMPILE_CACHE = join(import.meta.dirname, '..', '.cache', 'node');
const WEBHOOKS = 4_000;
/** Used often enough that the instances look up their deliveries on the fast path. */
const BUSY_WEBHOOKS = 20;
const SENDERS = 6;
const REPEAT_MS = 500;
const [former, next] = [createSecretBox(SECRET_KEY), createSecretBox(NEXT_KEY)];

let folder: string;
let keyFile: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'signal-board-rotation-'));
  keyFile = join(folder, 'next.key');
  await writeFile(keyFile, `${NEXT_KEY}\n`, { mode: 0o600 });
  await startInstances();
});
afterAll(async () => {
  await stopInstances();
  await rm(folder, { recursive: true, force: true });
});

/** The command on a database or a data folder. */
function rotate(env: Record<string, string>): {
  child: ChildProcess;
  ended: Promise<{ code: unknown; output: string }>;
} {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'rotate-secret.ts'), '--new-file', keyFile],
    {
      cwd: folder,
      env: { PATH: process.env.PATH, TMPDIR: tmpdir(), NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  return { child, ended: once(child, 'close').then(([code]) => ({ code, output })) };
}

/** Webhooks of as many users; returns their keys. */
async function addWebhooks(): Promise<string[]> {
  const rows = Array.from({ length: WEBHOOKS }, () => {
    const [id, userId] = [randomUUID(), randomUUID()];
    const { key, keySealed, keyHash } = createHookKey(former, { id, userId });
    return { id, userId, key, keySealed, keyHash: keyHash.toString('hex') };
  });
  const given = `json_to_recordset($1::json) as given (id uuid, "userId" uuid, "keySealed" text, "keyHash" text)`;
  await query(
    `insert into users (id, username, username_key, password_hash, is_test_user, created_at, updated_at)
     select "userId", "userId"::text, "userId"::text, '', false, now(), now() from ${given}`,
    [JSON.stringify(rows)],
  );
  await query(
    `insert into hooks (id, user_id, name, key_hash, key_sealed, created_at, updated_at)
     select id, "userId", 'Webhook', decode("keyHash", 'hex'), "keySealed", now(), now() from ${given}`,
    [JSON.stringify(rows)],
  );
  return rows.map(({ key }) => key);
}

const signal = (number: number) => ({
  symbol: `T${number % 7}USDT`,
  action: 'buy',
  price: `${number}`,
  timeframe: '15',
  processor: 'Tesla',
});

const candle = (number: number) => ({
  Timeframe: '15',
  Symbol: `T${number % 7}USDT`,
  Currency: 'USDT',
  DateTime: '202601010000',
  ...{ High: '100', Low: '100', Open: '100', Close: `${number}`, Volume: '1' },
});

/** Sends signals and candles to all webhooks until it is stopped. */
function startLoad(keys: readonly string[]) {
  const refused: string[] = [];
  let sent = 0;
  let isRestarting = false;
  let isOver = false;

  async function send(): Promise<void> {
    sent += 1;
    const key = sent % 2 === 0 ? keys[sent % keys.length] : keys[sent % BUSY_WEBHOOKS];
    const isCandle = sent % 3 === 0;
    const body = isCandle ? candle(sent) : signal(sent);
    const route = isCandle ? 'trading_view_candler' : 'trading_view_signal';
    const mayBeAway = isRestarting;
    const post = () =>
      call(`/hooks/${route}?hkid=${key}`, { body }).then(
        async (answer) => {
          await answer.arrayBuffer();
          return answer.status;
        },
        () => null,
      );
    let status = await post();
    // As TradingView does: a busy machine may not store it in time.
    for (let repeats = 0; status === 503 && repeats < 3 && !isOver; repeats += 1) {
      await sleep(REPEAT_MS);
      status = await post();
    }
    const isAway = status === null || status === 503;
    if (status !== 200 && !(isAway && (mayBeAway || isRestarting))) refused.push(`${status} for ${key}`);
  }

  const senders = Array.from({ length: SENDERS }, async () => {
    while (!isOver) await send();
  });
  return {
    refused,
    sent: () => sent,
    async whileRestarting(work: () => Promise<void>) {
      isRestarting = true;
      await work();
      isRestarting = false;
    },
    async stop() {
      isOver = true;
      await Promise.all(senders);
    },
  };
}

async function restartAll(env: Record<string, string>): Promise<void> {
  for (const name of NAMES) {
    const instance = instances.get(name);
    instances.delete(name);
    expect(await instance?.stop()).toBe(0);
    await startInstance(name, env);
  }
}

const hashesOf = async () =>
  new Set(
    (await query<{ hash: Buffer }>('select key_hash as hash from hooks')).map(({ hash }) =>
      hash.toString('hex'),
    ),
  );

// Requirements: settings-of-the-program-14
test('the secret key of two instances under load is rotated, killed and continued, and no delivery is refused', {
  timeout: 300_000,
}, async () => {
  const keys = await addWebhooks();
  let ownKey = await hookKey(await signIn());
  const onDatabase = { DATABASE_URL: databaseUrl(), SECRET_KEY };
  expect(await rotate(onDatabase).ended).toMatchObject({
    code: 1,
    output: expect.stringContaining('one, two do not know the new key'),
  });

  const load = startLoad(keys);
  onTestFinished(load.stop);
  await load.whileRestarting(() => restartAll({ SECRET_KEY_NEXT: NEXT_KEY }));
  const before = load.sent();

  const nextHashes = new Set(keys.map((key) => hashHookKey(next, key).toString('hex')));
  const countRotated = async () => [...(await hashesOf())].filter((hash) => nextHashes.has(hash)).length;
  expect(await countRotated()).toBe(0);
  const first = rotate(onDatabase);
  await expect.poll(countRotated, { timeout: 60_000, interval: 5 }).toBeGreaterThan(WEBHOOKS / 8);
  first.child.kill('SIGKILL');
  await first.ended;
  expect(await countRotated()).toBeLessThan(WEBHOOKS);
  const half = load.sent();
  await expect.poll(load.sent, { timeout: 60_000 }).toBeGreaterThan(half + 200);

  // A key that is renewed in between works on every instance.
  const cookie = await signIn();
  const [hook] = (await (await call('/api/hooks', { cookie })).json()) as { id: string }[];
  const renewal = { generateNewKey: true, password: ADMIN.password };
  const renewed = await call(`/api/hooks/${hook?.id}`, { cookie, method: 'PUT', body: renewal });
  ({ hookKey: ownKey } = (await renewed.json()) as { hookKey: string });
  nextHashes.add(hashHookKey(next, ownKey).toString('hex'));
  expect([...(await hashesOf())]).toContain(hashHookKey(next, ownKey).toString('hex'));
  for (const { url: at } of instances.values()) {
    const delivered = await call(`/hooks/trading_view_signal?hkid=${ownKey}`, { at, body: signal(1) });
    expect(delivered.status).toBe(200);
  }

  // An instance that starts in between needs both keys.
  const missing = spawnProgram({ dataDir: folder, env: { PORT: '0', ...onDatabase } });
  expect(await missing.ended).toBe(1);
  expect(missing.output()).toContain('start with that key in SECRET_KEY_NEXT');

  const { code, output } = await rotate(onDatabase).ended;
  expect(output).toContain(`webhook keys: ${keys.length + 1} under the new key, `);
  expect(output).toContain('Nothing is left under the former key.');
  expect(code).toBe(0);
  expect(await hashesOf()).toEqual(nextHashes);
  const opened = await query<{ id: string; user_id: string; key_sealed: string }>('select * from hooks');
  for (const { id, user_id, key_sealed } of opened) {
    const place = { purpose: 'webhook-key', binding: `${id}:${user_id}` } as const;
    expect(nextHashes).toContain(hashHookKey(next, next.open(key_sealed, place)).toString('hex'));
  }

  await load.whileRestarting(() => restartAll({ SECRET_KEY: NEXT_KEY }));
  const after = load.sent();
  await expect.poll(load.sent, { timeout: 60_000 }).toBeGreaterThan(after + 200);
  await load.stop();
  expect(load.refused).toEqual([]);
  expect(half).toBeGreaterThan(before);

  const alone = spawnProgram({ dataDir: folder, env: { PORT: '0', ...onDatabase } });
  expect(await alone.ended).toBe(1);
  expect(alone.output()).toContain('is not the one that this database was sealed with');
  const { entries } = (await (await call('/api/audit?limit=100', { cookie: await signIn() })).json()) as {
    entries: { action: string }[];
  };
  expect(entries.filter(({ action }) => action === 'secret key rotated')).toHaveLength(1);
});

test('the key of a data folder is replaced by the file of the new one', { timeout: 300_000 }, async () => {
  const dataDir = join(folder, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  const post = (url: string, path: string, body: object, cookie = '') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, cookie },
      body: JSON.stringify(body),
    });

  const before = await startServerProcess({ dataDir, env: { SECRET_KEY_NEXT: NEXT_KEY } });
  const { adminUsername: username, adminPassword: password, url } = before;
  const cookie = (await post(url, '/api/auth/login', { username, password })).headers.get('set-cookie') ?? '';
  const created = await post(url, '/api/hooks', {}, cookie.split(';')[0]);
  const path = `/hooks/trading_view_signal?hkid=${((await created.json()) as { hookKey: string }).hookKey}`;
  const { code, output } = await rotate({ DATA_DIR: dataDir }).ended;
  expect(output).toContain(`Copy ${keyFile} over ${join(dataDir, 'secret.key')}`);
  expect(code).toBe(0);
  expect((await post(url, path, signal(1))).status).toBe(200);
  expect(await before.stop()).toBe(0);

  const former = spawnProgram({ dataDir, env: { PORT: '0' } });
  expect(await former.ended).toBe(1);
  expect(former.output()).toContain('is not the one that this database was sealed with');
  await copyFile(keyFile, join(dataDir, 'secret.key'));
  const after = await startServerProcess({ dataDir });
  try {
    expect((await post(after.url, path, signal(2))).status).toBe(200);
  } finally {
    await after.stop();
  }
});
