import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inspect } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Webhook } from '#contract/hooks.ts';
import type { User } from '#contract/users.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { createExchangeRegistry } from '#server/exchanges/registry.ts';
import { systemClock } from '#server/platform/clock.ts';
import { findPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { createCanaries } from '#test/app/canaries.ts';
import { createRefusals } from '#test/app/refused-writes.ts';
import { SIGNAL } from '#test/app/test-sender.ts';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';
import { type RecordingClient, recordingClient } from '#test/venues/recording-client.ts';
import { type ExchangeSite, startExchangeSite } from '#test/venues/test-exchange-site.ts';
import { forgetCredentialCalls } from '#test/world/keys.ts';

/**
 * Takes exchange secrets that are recognisable in any form through every operation of the real program at its most
 * verbose log level, then searches everything it writes. The exchange repeats every request in its refusals. Control
 * values in places that are not secret prove that each search works.
 */
const PATH = '/api/user-settings/exchange-credentials';
const PASSWORD = 'a password of a user';
const canaries = createCanaries();
const controls = createCanaries();

let site: ExchangeSite;
let server: TestServerProcess;
let database: pg.Client;
let admin: RecordingClient;
let trader: RecordingClient;
let traderId: string;
let storing: Awaited<ReturnType<typeof createRefusals>>;
const signalIds: string[] = [];

const newSecrets = () => ({
  apiKey: canaries.next('key'),
  apiSecret: canaries.next('secret'),
  passphrase: canaries.next('phrase'),
});
const bitget = (secrets: object) => ({ exchangePlatform: 'Bitget', ...secrets });

beforeAll(async () => {
  site = await startExchangeSite({ environment: 'demo' });
  site.repeatInRefusals();
  server = await startServerProcess({
    env: {
      APP_ENV: 'production',
      EXCHANGE_MODE: 'demo',
      AUTO_TRADE: 'enabled',
      BITGET_BASE_URL: site.url,
      BYBIT_BASE_URL: site.url,
      EXCHANGE_TIMEOUT_MS: '1000',
      VERIFY_FIRST_MS: '200',
      VERIFY_SECOND_MS: '200',
      CANCEL_DELAY_MS: '100',
      LOG_LEVEL: 'trace',
    },
  });
  const postmaster = await findPostmaster(join(server.dataDir, 'postgres'));
  if (postmaster === null) throw new Error('the database of the program was not found');
  const { host, port } = postmaster;
  database = new pg.Client({ host, port, user: 'postgres', database: 'signal_board' });
  await database.connect();
  storing = await createRefusals(database, 'exchange_credentials');
  admin = recordingClient(server.url);
  await admin.signIn(server.adminUsername, server.adminPassword);
  trader = recordingClient(server.url);
  traderId = await createTrader();

  await beRefusedByValidation();
  await beRefusedByTheExchange();
  await findTheExchangeAway();
  await failToStore();
  await tradeAndFail();
  await readEverything();
  await database.query('checkpoint');
});
afterAll(async () => {
  await database?.end();
  await server?.stop();
  await site?.close();
});

async function createTrader(): Promise<string> {
  const username = 'trader@example.com';
  const body = { username, password: PASSWORD, firstName: controls.next('name') };
  const created = await admin.send('POST', '/api/admin/create-client', body);
  const { id } = created.json<{ user: User }>().user;
  await trader.signIn(username, PASSWORD);
  await trader.send('PUT', '/api/user-settings', { positionSizingMethod: 'Risk Management' });
  await admin.send('PUT', `/api/admin/user/${id}/active-trading`, { activeTrading: true });
  await admin.send('GET', `/api/nothing/${controls.next('path').replaceAll(/\W/g, '')}`);
  return id;
}

async function beRefusedByValidation(): Promise<void> {
  const secrets = newSecrets();
  const spoilt: unknown[] = [
    ...Object.entries(secrets).flatMap(([name, value]) => [
      bitget({ ...secrets, [name]: value.repeat(20) }),
      bitget({ ...secrets, [name]: `${value} ${value}` }),
      bitget({ ...secrets, [name]: [value] }),
      bitget({ ...secrets, [name]: { [value]: value } }),
    ]),
    { ...secrets, exchangePlatform: secrets.apiKey },
    { ...bitget(secrets), passphrase: '' },
    [secrets],
    secrets.apiSecret,
    `{"exchangePlatform":"Bitget","apiKey":"${secrets.apiKey}","apiSecret":${secrets.apiSecret}`,
    `{"__proto__":"${secrets.apiSecret}"}`,
  ];
  for (const body of spoilt) {
    for (const path of [PATH, `/api/admin/user-settings/${traderId}/exchange-credentials`]) {
      const answer = await admin.send('PUT', path, body);
      expect(answer.status, answer.body).toBe(400);
    }
  }
  const asText = { 'content-type': 'text/plain' };
  expect((await trader.send('PUT', PATH, JSON.stringify(secrets), asText)).status).toBe(415);
  expect((await trader.send('GET', `${PATH}?exchangePlatform=${secrets.apiKey}`)).status).toBe(400);
  const elsewhere = { origin: 'http://elsewhere.example.com' };
  expect((await trader.send('PUT', PATH, bitget(secrets), elsewhere)).status).toBe(403);
}

async function beRefusedByTheExchange(): Promise<void> {
  const known = newSecrets();
  site.addAccount(known);
  const { apiKey, apiSecret, passphrase } = newSecrets();
  for (const wrong of [{ apiKey }, { apiSecret }, { passphrase }]) {
    const refused = await trader.send('PUT', PATH, bitget({ ...known, ...wrong }));
    expect(refused.status).toBe(400);
    expect(refused.body).toContain('Bitget refused the API key: ');
  }
}

async function findTheExchangeAway(): Promise<void> {
  await forgetCredentialCalls(database);
  for (const kind of ['timeout', 'cutAfterAccept', 'badGatewayAfter', 'html200'] as const) {
    site.setFaults([{ kind, on: { path: '/account/info' } }]);
    const stored = await trader.send('PUT', PATH, bitget(newSecrets()));
    expect(stored.json()).toMatchObject({ test: { success: false, error: 'unreachable' } });
  }
}

async function failToStore(): Promise<void> {
  await forgetCredentialCalls(database);
  const secrets = newSecrets();
  site.addAccount(secrets);
  await storing.refuse();
  expect((await trader.send('PUT', PATH, bitget(secrets))).status).toBe(500);
  await storing.allow();
}

/** One trade that is filled, and two that the exchange refuses along the way. */
async function tradeAndFail(): Promise<void> {
  const secrets = newSecrets();
  const accountId = site.addAccount(secrets);
  expect((await trader.send('PUT', PATH, bitget(secrets))).json()).toMatchObject({ test: { success: true } });
  const hook = (await admin.send('POST', '/api/hooks', {})).json<Webhook>();
  const signal = async (symbol: string, price: string) => {
    await site.push(symbol, price);
    const body = { ...SIGNAL, symbol: `${symbol}USDT`, price };
    const sent = await admin.send('POST', `/hooks/trading_view_signal?hkid=${hook.hookKey}`, body);
    const { id } = sent.json<{ id: string }>();
    signalIds.push(id);
    await workflowEnd(id);
  };
  site.setFaults([{ kind: 'refuse', code: '40034', on: { path: '/single-position', times: 9 } }]);
  await signal('SOL', '150');
  site.setFaults([{ kind: 'refuse', code: '40034', on: { path: '/account/account', times: 2 } }]);
  await signal('ETH', '3000');
  site.setFaults([{ kind: 'tooManyRequests', on: { path: '/place-order' } }]);
  await signal('BTC', '65000');
  expect((await site.holding(accountId, 'BTC')).stopLoss).not.toBeNull();
  expect(await site.exchangeOrders(accountId)).toHaveLength(1);
  await beRevoked(accountId);
}

/** The exchange's message is stored with the key and shown. */
async function beRevoked(accountId: string): Promise<void> {
  site.setFaults([]);
  site.replaceKey(accountId);
  expect((await trader.send('POST', `${PATH}/test`)).json()).toMatchObject({ error: 'credentials' });
  const { state, problem } = (await trader.send('GET', PATH)).json<{ state: string; problem: string }>();
  expect(state).toBe('rejected');
  expect(problem).toContain('Bitget refused it: ');
  const { rows } = await database.query('select rejected_reason from exchange_credentials');
  expect(rows[0].rejected_reason).toContain('[redacted]');
}

const workflowEnd = (signalId: string) =>
  vi.waitFor(
    async () => {
      const ended = 'select from workflows where signal_id = $1 and completed_at is not null';
      expect((await database.query(ended, [signalId])).rowCount).toBe(1);
    },
    { timeout: 20_000, interval: 100 },
  );

/** Requests every readable path with every known id. */
async function readEverything(): Promise<void> {
  const api = await admin.send('GET', '/api/docs/json');
  const paths = Object.entries(api.json<{ paths: Record<string, object> }>().paths)
    .filter(([path, methods]) => 'get' in methods && !/^\/api\/(events|docs)/.test(path))
    .map(([path]) => path);
  expect(paths).toContain(PATH);
  const { rows } = await database.query<{ id: string }>(
    'select id from workflows union select id from hooks',
  );
  const ids = [...signalIds, ...rows.map(({ id }) => id), traderId];
  for (const path of paths) {
    for (const id of path.includes('{') ? ids : ['']) {
      for (const client of [admin, trader]) await client.send('GET', path.replaceAll(/\{\w+\}/g, id));
    }
  }
  await trader.send('POST', `${PATH}/test`);
  await trader.send('DELETE', PATH);
  const again = newSecrets();
  site.addAccount(again);
  const path = `/api/admin/user-settings/${traderId}/exchange-credentials`;
  expect((await admin.send('PUT', path, bitget(again))).json()).toMatchObject({ connected: true });
}

// Requirements: users-9
test('no response contains a secret', () => {
  const answers = [...admin.answered(), ...trader.answered()];
  const all = answers.join('\n');
  for (const text of ['"futuresBalance"', '[redacted]', '"calculationDetail"']) expect(all).toContain(text);
  expect(answers.some((answer) => controls.findIn('an answer', answer).length > 0)).toBe(true);
  expect(answers.flatMap((answer) => canaries.findIn(answer.slice(0, 80), answer))).toEqual([]);
});

// Requirements: users-9
test('the log contains no secret', () => {
  const log = server.output();
  for (const line of ['exchange credentials stored', 'exchange credentials removed', 'account unavailable']) {
    expect(log).toContain(line);
  }
  expect(log).toContain('"request failed"');
  expect(controls.findIn('the log', log)).not.toEqual([]);
  expect(canaries.findIn('the log', log)).toEqual([]);
});

// Requirements: users-9
test('no column of any table contains a secret, including calls of trades and jobs', async () => {
  const { rows: tables } = await database.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const names = tables.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['public.trade_events', 'public.exchange_credentials']));
  expect(names.some((name) => name.startsWith('jobs.'))).toBe(true);
  const contents = new Map<string, Buffer>();
  for (const name of names) {
    const { rows } = await database.query(`select * from ${name}`);
    const { rows: asText } = await database.query(`select t::text from ${name} as t`);
    const bytes = rows.flatMap((row) => Object.values(row)).filter((value) => Buffer.isBuffer(value));
    contents.set(name, Buffer.concat([Buffer.from(JSON.stringify(asText)), ...bytes]));
  }
  expect(contents.get('public.trade_events')?.toString()).toContain('[redacted]');
  expect(contents.get('public.exchange_credentials')?.toString()).toContain(traderId);
  expect(controls.findIn('users', contents.get('public.users') ?? '')).not.toEqual([]);
  expect([...contents].flatMap(([name, bytes]) => canaries.findIn(name, bytes))).toEqual([]);
});

// Requirements: users-9
test('no file of the data folder contains a secret, including the write-ahead log', async () => {
  const entries = await readdir(server.dataDir, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  expect(files.some((file) => file.includes('pg_wal'))).toBe(true);
  const found: string[] = [];
  const foundControls: string[] = [];
  for (const file of files) {
    // The database may remove a file in the meantime.
    const bytes = await readFile(file).catch(() => Buffer.alloc(0));
    const name = file.slice(server.dataDir.length);
    found.push(...canaries.findIn(name, bytes));
    foundControls.push(...controls.findIn(name, bytes));
  }
  expect(foundControls).not.toEqual([]);
  expect(found).toEqual([]);
});

test('the exchange gets key and passphrase in their two headers, and the secret nowhere', () => {
  expect(site.requests.length).toBeGreaterThan(20);
  for (const { headers, ...request } of site.requests) {
    const { 'access-key': key = '', 'access-passphrase': phrase = '', ...others } = headers;
    expect(canaries.findIn('key', key)).toHaveLength(1);
    expect(canaries.findIn('passphrase', phrase)).toHaveLength(1);
    expect(canaries.findIn('the rest', JSON.stringify([others, request]))).toEqual([]);
  }
});

test.each(['refuse', 'timeout', 'cutAfterAccept', 'badGatewayAfter', 'html200', 'tooManyRequests'] as const)(
  'an exchange error and its causes contain no secret: %s',
  async (kind) => {
    const secrets = newSecrets();
    site.addAccount(secrets);
    const registry = createExchangeRegistry({
      exchangeMode: 'demo',
      bitgetBaseUrl: site.url,
      bybitBaseUrl: null,
      exchangeProxyUrls: [],
      exchangeAddress: null,
      exchangeTimeoutMs: 500,
      clock: systemClock,
      paper: null,
    });
    const on = { path: '/accounts' };
    site.setFaults([kind === 'refuse' ? { kind, code: '40014', on } : { kind, on }]);
    const account = {
      userId: traderId,
      environment: 'demo' as const,
      credentials: { ...secrets, accountMode: 'classic' as const },
    };
    const error: unknown = await registry
      .get('Bitget')
      .fetchBalance(account)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ExchangeError);
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      const all = `${cause.stack} ${inspect(cause, { depth: 20, showHidden: true })}`;
      expect(canaries.findIn(cause.name, all)).toEqual([]);
    }
    await registry.close();
  },
);
