import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import Fastify from 'fastify';
import pg from 'pg';
import { expect, test } from 'vitest';
import { createLog } from './log.ts';

const CANARY = 'canary-3f9a';

function capture() {
  const lines: string[] = [];
  const log = createLog({ level: 'trace', destination: { write: (line) => lines.push(line) } });
  return { log, lines, text: () => lines.join('') };
}

test('writes JSON lines with a named level, an ISO time and their fields', () => {
  const { log, lines } = capture();
  log.warn({ token: 'BTC' }, 'hello');
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    token: 'BTC',
    msg: 'hello',
  });
});

test.each([
  'password',
  'currentPassword',
  'newPassword',
  'apiKey',
  'apiSecret',
  'passphrase',
  'secret',
  'hkid',
  'hookKey',
  'Cookie',
  'Authorization',
  'Set-Cookie',
  'ACCESS-KEY',
  'access-sign',
  'ACCESS-PASSPHRASE',
  'X-BAPI-API-KEY',
])('hides %s at every depth, in lists and in the fields of a child logger', (key) => {
  const { log, text } = capture();
  const secret = { [key]: CANARY };
  log.info(secret);
  log.info({ a: secret });
  log.info({ a: { b: { c: [{ d: secret }] } } });
  log.child(secret).info('child');
  log.child({ a: secret }).info('child');
  expect(text()).not.toContain(CANARY);
  expect(text().match(/\[redacted\]/g)).toHaveLength(5);
});

test('hides webhook keys in addresses and passwords in connection strings in free text', () => {
  const { log, text } = capture();
  log.info(`POST /hooks/trading_view_signal?hkid=${CANARY}&x=1`);
  log.info({ url: `https://board.example.com/hooks/x?hkid=${CANARY}` });
  log.error(new Error(`connect postgres://me:${CANARY}@db.example.com/x`));
  expect(text()).not.toContain(CANARY);
  expect(text()).toContain('hkid=[redacted]&x=1');
  expect(text()).toContain('postgres://me:[redacted]@db.example.com/x');
});

test('keeps only the type, message, stack, code and causes of an error', () => {
  const { log, lines } = capture();
  const cause = Object.assign(new Error('inner'), { code: 'ECONNRESET', body: CANARY });
  const error = Object.assign(new TypeError('outer', { cause }), {
    request: { body: CANARY },
    detail: `Key (username)=(${CANARY})`,
  });
  log.error({ err: error, nested: { failure: error } }, 'failed');
  expect(lines.join('')).not.toContain(CANARY);
  expect(JSON.parse(lines[0] ?? '').err).toEqual({
    type: 'TypeError',
    message: 'outer',
    stack: expect.stringContaining('log.test.ts'),
    cause: { type: 'Error', message: 'inner', code: 'ECONNRESET', stack: expect.any(String) },
  });
});

test('logs a failed query without its values', async () => {
  const { log, text } = capture();
  const pool = new pg.Pool({ host: '127.0.0.1', port: 1 });
  const failure = await drizzle(pool)
    .execute(sql`select ${CANARY}::text`)
    .catch((error: unknown) => error);
  log.error({ err: failure }, 'query');
  await pool.end();
  expect(text()).toContain('Failed query: select $1::text');
  expect(text()).toContain('ECONNREFUSED');
  expect(text()).not.toContain(CANARY);
});

test('logs the path of a request, but neither query, headers nor body', async () => {
  const { log, text } = capture();
  const app = Fastify({ loggerInstance: log });
  app.post('/hooks/x', (request) => {
    request.log.info({ headers: request.headers, body: request.body }, 'inside');
    throw new Error('broken');
  });
  await app.inject({
    method: 'POST',
    url: `/hooks/x?hkid=${CANARY}`,
    headers: { cookie: `sid=${CANARY}`, authorization: `Bearer ${CANARY}` },
    payload: { password: CANARY },
  });
  await app.close();
  expect(text()).toContain('"path":"/hooks/x"');
  expect(text()).toContain('broken');
  expect(text()).not.toContain(CANARY);
});
