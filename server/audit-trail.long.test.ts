import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  call,
  databaseUrl,
  instances,
  NAMES,
  query,
  signIn,
  startInstance,
  startInstances,
  stopInstances,
} from '#test/world/processes.ts';
import { SECRET_KEY } from '#test/world/programs.ts';

const WRITERS = 20;
const KILLS = 4;
const WRITES_BETWEEN = 150;

beforeAll(startInstances);
afterAll(stopInstances);

/** A user whose settings one writer changes. */
async function createUser(cookie: string, number: number): Promise<string> {
  const body = { username: `user${number}@example.com`, password: 'a password of a user' };
  const answer = await call('/api/admin/create-client', { cookie, body });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { user: { id: string } }).user.id;
}

/** Everybody changes the settings of a user of their own, again and again, until it is stopped. */
function startWriters(cookie: string, userIds: readonly string[]) {
  const acknowledged: string[] = [];
  const refused: number[] = [];
  let isOver = false;
  const writers = userIds.map(async (userId, writer) => {
    for (let number = 1; !isOver; number += 1) {
      const signalProcessor = `Writer ${writer} change ${number}`;
      const change = { cookie, method: 'PUT', body: { signalProcessor } };
      const status = await call(`/api/admin/user-settings/${userId}`, change).then(
        (answer) => answer.status,
        () => null,
      );
      if (status === 200) acknowledged.push(signalProcessor);
      // Without an answer from an instance that was killed, nobody knows whether it was written.
      else if (status !== null && status !== 503) refused.push(status);
    }
  });
  return {
    acknowledged,
    refused,
    async stop() {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

async function verify() {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'audit-verify.ts')], {
    env: { PATH: process.env.PATH, TMPDIR: tmpdir(), DATABASE_URL: databaseUrl(), SECRET_KEY },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close');
  return { code, output };
}

// Requirements: additions-audit-1
test('the trail of two instances that are killed under twenty writers has no gaps, verifies, and misses no answered write', {
  timeout: 300_000,
}, async () => {
  const cookie = await signIn();
  const userIds: string[] = [];
  for (let number = 1; number <= WRITERS; number += 1) userIds.push(await createUser(cookie, number));
  const writers = startWriters(cookie, userIds);
  onTestFinished(writers.stop);

  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = writers.acknowledged.length;
    const written = () => writers.acknowledged.length - before;
    await expect.poll(written, { timeout: 60_000 }).toBeGreaterThan(WRITES_BETWEEN);
    const name = NAMES[kill % 2] ?? 'one';
    const killed = instances.get(name);
    instances.delete(name);
    await killed?.kill9();
    await startInstance(name);
    // The verifier agrees at any time, also between writing and sealing.
    expect(await verify()).toMatchObject({ code: 0, output: expect.stringContaining('unbroken') });
  }
  await writers.stop();
  expect(writers.refused).toEqual([]);

  const unsealed = () => query('select id from audit_log where sequence is null');
  await expect.poll(unsealed, { timeout: 30_000 }).toEqual([]);
  const [places] = await query('select count(*)::int, min(sequence)::int, max(sequence)::int from audit_log');
  expect(places).toEqual({ count: places?.max, min: 1, max: places?.max });
  const entries = await query<{ processor: string }>(
    `select after->>'signalProcessor' as processor from audit_log where action = 'settings changed'`,
  );
  const recorded = new Set(entries.map(({ processor }) => processor));
  expect(recorded.size).toBe(entries.length);
  expect(writers.acknowledged.filter((one) => !recorded.has(one))).toEqual([]);
  const { code, output } = await verify();
  expect(output).toContain(`The audit trail is unbroken: ${places?.max} entries, up to ${places?.max}:`);
  expect(code).toBe(0);

  // Change and entry were one transaction: what is stored is on record.
  const stored = await query<{ processor: string }>(
    "select signal_processor as processor from user_settings where signal_processor like 'Writer %'",
  );
  expect(stored).toHaveLength(WRITERS);
  expect(stored.filter(({ processor }) => !recorded.has(processor))).toEqual([]);
});
