import { beforeEach, expect, test } from 'vitest';
import { fakeClock } from '#test/app/fake-clock.ts';
import { createLog } from '../log.ts';
import { createUntrustedProxies } from './untrusted-proxies.ts';

const DAY_MS = 86_400_000;

let lines: string[];
beforeEach(() => {
  lines = [];
});

function watch(trustProxy: string[] = []) {
  const clock = fakeClock('2026-03-04T05:06:07.000Z');
  const log = createLog({ level: 'info', destination: { write: (line) => lines.push(line) } });
  const proxies = createUntrustedProxies({ config: { trustProxy }, clock, log });
  const request = (remoteAddress: string | undefined, forwarded?: string) =>
    proxies.note({
      headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded },
      socket: { remoteAddress },
    });
  return { clock, proxies, request };
}

test('logs an untrusted peer that sends X-Forwarded-For once, with the setting to change', () => {
  const { proxies, request, clock } = watch(['10.9.9.9']);
  for (const client of ['203.0.113.1', '203.0.113.2', '203.0.113.1']) request('::ffff:10.0.0.5', client);
  expect(proxies.list()).toEqual([{ address: '10.0.0.5', since: clock.now() }]);
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 'warn',
      address: '10.0.0.5',
      msg: 'X-Forwarded-For is not believed from this address, so everybody behind it counts as one; if it is your reverse proxy, set TRUST_PROXY=10.9.9.9,10.0.0.5',
    }),
  ]);
});

test('does not name trusted peers, peers without the header and peers that are gone', () => {
  const { proxies, request } = watch(['10.0.0.0/24', 'loopback']);
  request('10.0.0.5', '203.0.113.1');
  request('::ffff:127.0.0.1', '203.0.113.1');
  request('10.0.1.5');
  request(undefined, '203.0.113.1');
  expect(proxies.list()).toEqual([]);
  expect(lines).toEqual([]);
});

test('forgets a proxy that is not seen for a day, and names it again when it is back', () => {
  const { proxies, request, clock } = watch();
  const start = clock.now();
  request('10.0.0.5', '203.0.113.1');
  clock.advance(DAY_MS - 1);
  request('10.0.0.5', '203.0.113.1');
  clock.advance(DAY_MS - 1);
  expect(proxies.list()).toEqual([{ address: '10.0.0.5', since: start }]);
  clock.advance(1);
  expect(proxies.list()).toEqual([]);
  expect(lines).toHaveLength(1);
  request('10.0.0.5', '203.0.113.1');
  expect(proxies.list()).toEqual([{ address: '10.0.0.5', since: clock.now() }]);
  expect(lines).toHaveLength(2);
});

test('lets callers that invent the header fill neither the memory nor the log', () => {
  const { proxies, request, clock } = watch();
  for (let caller = 0; caller < 1_000; caller += 1) {
    request(`192.0.${caller >> 8}.${caller & 255}`, '203.0.113.1');
  }
  expect(proxies.list()).toHaveLength(10);
  expect(lines).toHaveLength(10);
  clock.advance(DAY_MS);
  request('10.0.0.5', '203.0.113.1');
  expect(proxies.list()).toEqual([{ address: '10.0.0.5', since: clock.now() }]);
});
