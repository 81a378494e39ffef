import { expect, test } from 'vitest';
import { parseConfig } from './platform/config/config.ts';
import { startNotice } from './start-notice.ts';

function notice(
  env: Record<string, string>,
  firstAdministrator: Parameters<typeof startNotice>[0]['firstAdministrator'],
) {
  return startNotice({
    config: parseConfig({ DATA_DIR: '/srv/board', ...env }),
    port: 3000,
    firstAdministrator,
  });
}

test('shows everything that is needed to sign in on a first start', () => {
  const first = { username: 'admin@example.com', password: 'generated-one' };
  expect(notice({}, first).split('\n').slice(2, -2)).toEqual([
    '  Signal Board is running',
    '',
    '  Address     http://127.0.0.1:3000',
    '  User name   admin@example.com',
    '  Password    generated-one   (shown only this once)',
    '  Mode        paper: orders go to the built-in exchange, no real money; automatic trading on, orders by hand on',
    '  Data        /srv/board (embedded PostgreSQL)',
  ]);
});

test('does not show a configured password', () => {
  const text = notice({}, { username: 'me@example.com', password: null });
  expect(text).toContain('User name   me@example.com');
  expect(text).toContain('Password    from ADMIN_PASSWORD');
});

test('shows on a later start that the account is as before', () => {
  expect(notice({}, null)).toMatch(
    /User name {3}as set before\n {2}Password {4}as set before {3}\(forgotten: npm run reset-password\)\n/,
  );
});

test('marks an address that is open to the network', () => {
  expect(notice({ HOST: '0.0.0.0' }, null)).toContain(
    'http://localhost:3000 (HOST is 0.0.0.0: open to everybody who reaches this machine)',
  );
  expect(notice({ HOST: '::1' }, null)).toContain('http://[::1]:3000');
});

test('shows the address that browsers open on its own line', () => {
  expect(notice({ HOST: '0.0.0.0', PUBLIC_URL: 'https://board.example.com' }, null)).toMatch(
    /^ {2}Address {5}http:\/\/localhost:3000 .*\n {2}Public URL {2}https:\/\/board\.example\.com$/m,
  );
});

test('says in development why automatic trading is off', () => {
  expect(notice({ APP_ENV: 'development' }, null)).toContain(
    'automatic trading off (APP_ENV is development)',
  );
});

test.each([
  [{ EXCHANGE_MODE: 'demo' }, 'orders by hand off (MANUAL_ORDERS)'],
  [{ EXCHANGE_MODE: 'live', MANUAL_ORDERS: 'enabled' }, 'orders by hand on (MANUAL_ORDERS)'],
  [{ MANUAL_ORDERS: 'disabled' }, 'orders by hand on'],
  [{ EXCHANGE_MODE: 'demo', APP_ENV: 'development' }, 'orders by hand on'],
])('for %j ends the mode with %s', (env, text) => {
  expect(notice(env, null)).toContain(`, ${text}\n`);
});

// Requirements: settings-of-the-program-9
test('adds a remark to live trading on the embedded database', () => {
  const remark = 'backups and a second machine need DATABASE_URL';
  expect(notice({ EXCHANGE_MODE: 'live' }, null)).toContain(remark);
  expect(notice({ EXCHANGE_MODE: 'live' }, null)).toContain(
    'LIVE: orders are real money; automatic trading off, orders by hand off (MANUAL_ORDERS)\n',
  );
  const own = { EXCHANGE_MODE: 'live', DATABASE_URL: 'postgres://u:hidden@h/d', SECRET_KEY: 'k'.repeat(32) };
  expect(notice(own, null)).not.toContain(remark);
  expect(notice(own, null)).not.toContain('hidden');
});
