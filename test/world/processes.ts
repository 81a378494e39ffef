import { randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import pg from 'pg';
import { expect, inject } from 'vitest';
import { startServerProcess, type TestServerProcess } from '../app/test-server-process.ts';
import { ADMIN_PASSWORD, ADMIN_USERNAME, SECRET_KEY } from './programs.ts';

// Real programs on one PostgreSQL behind a load balancer, as in compose.yaml.

export const ADMIN = { username: ADMIN_USERNAME, password: ADMIN_PASSWORD };
export const NAMES = ['one', 'two'] as const;

export let database: string;
let server: pg.Client;
let balancer: Server;
let address: string;
/** The balancer's instances. */
export const instances = new Map<string, TestServerProcess>();
const started = new Set<TestServerProcess>();
let webhook: Promise<string> | undefined;

export async function startInstances(): Promise<void> {
  // Test files of one worker share this module.
  webhook = undefined;
  instances.clear();
  started.clear();
  server = new pg.Client({ ...inject('testServer'), database: 'postgres' });
  await server.connect();
  database = `test_${randomBytes(8).toString('hex')}`;
  // Starts empty: both instances create the tables concurrently, serialised by the migration lock.
  await server.query(`create database ${database} template template0`);
  balancer = createBalancer();
  await new Promise<void>((resolve) => balancer.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
  await Promise.all(NAMES.map((name) => startInstance(name)));
}

export async function stopInstances(): Promise<void> {
  for (const { child } of started) child.kill('SIGCONT');
  await Promise.all([...started].map((instance) => instance.stop()));
  balancer.close();
  await server.query(`drop database ${database} with (force)`);
  await server.end();
}

export function databaseUrl(): string {
  const { host, port, user } = inject('testServer');
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(host)}`;
}

export async function startInstance(name: string, env: Record<string, string> = {}): Promise<void> {
  const instance = await startServerProcess({
    env: {
      DATABASE_URL: databaseUrl(),
      SECRET_KEY,
      INSTANCE_ID: name,
      WEBHOOK_RATE_LIMIT: '0',
      LOG_LEVEL: 'warn',
      // In development every workflow ends at its second step: these tests do not need trading.
      APP_ENV: 'development',
      VERIFY_FIRST_MS: '200',
      VERIFY_SECOND_MS: '200',
      ...env,
    },
  });
  instances.set(name, instance);
  started.add(instance);
}

/** A round-robin balancer that tries the next instance when a connection fails. */
function createBalancer(): Server {
  let turn = 0;
  return createServer((client) => {
    client.on('error', () => {});
    turn += 1;
    const running = [...instances.values()].map(({ url }) => Number(new URL(url).port));
    const ports = running.map((_, index) => running[(turn + index) % running.length]);
    const tryNext = () => {
      const port = ports.shift();
      if (port === undefined) return client.destroy();
      const upstream = connect({ host: '127.0.0.1', port });
      let isConnected = false;
      upstream.once('connect', () => {
        isConnected = true;
        client.pipe(upstream).pipe(client);
      });
      upstream.once('error', () => (isConnected ? client.destroy() : tryNext()));
      client.once('close', () => upstream.destroy());
    };
    tryNext();
  });
}

export async function call(
  path: string,
  options: { cookie?: string; method?: string; body?: unknown; at?: string | undefined } = {},
): Promise<Response> {
  const { cookie, body, method = body === undefined ? 'GET' : 'POST', at = address } = options;
  return await fetch(`${at}${path}`, {
    method,
    headers: {
      connection: 'close',
      origin: at,
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

export async function signIn(at = address): Promise<string> {
  const answer = await call('/api/auth/login', { body: ADMIN, at });
  expect(answer.status).toBe(200);
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const confirmed = await call('/api/auth/step-up', { cookie, body: { password: ADMIN.password }, at });
  expect(confirmed.status).toBe(200);
  return cookie;
}

/** The key of the administrator's only webhook, which is created on first use. */
export function hookKey(cookie: string): Promise<string> {
  webhook ??= call('/api/hooks', { cookie, body: {} })
    .then((answer) => answer.json() as Promise<{ hookKey: string }>)
    .then(({ hookKey }) => hookKey);
  return webhook;
}

export async function query<Row extends pg.QueryResultRow>(
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ ...inject('testServer'), database });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
