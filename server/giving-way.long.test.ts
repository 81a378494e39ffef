import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServerProcess, type TestServerProcess } from '#test/app/test-server-process.ts';

/** Senders that together send more than the program can handle (docs/decisions/0003). */
const SENDERS = 50;
/** The longest run, however slow the machine is. */
const LONGEST_MS = 30_000;

let server: TestServerProcess;
let agent: Agent;

beforeAll(async () => {
  server = await startServerProcess({
    env: { LOG_LEVEL: 'warn', AUTO_TRADE: 'disabled', WEBHOOK_RATE_LIMIT: '0' },
  });
  agent = new Agent({ keepAlive: true, maxSockets: SENDERS });
});
afterAll(async () => {
  agent.destroy();
  await server.stop();
});

async function createHook(): Promise<string> {
  const call = (path: string, body: object, cookie = '') =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      body: JSON.stringify(body),
    });
  const { adminUsername: username, adminPassword: password } = server;
  const entered = await call('/api/auth/login', { username, password });
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { hookKey } = (await (await call('/api/hooks', {}, cookie)).json()) as { hookKey: string };
  return `${server.url}/hooks/trading_view_signal?hkid=${hookKey}`;
}

/** Returns the status. */
const deliver = (url: string, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const found = new RegExp(`^${name}(?:\\{.*\\})? (\\S+)`, 'm').exec(text)?.[1];
  if (found === undefined) throw new Error(`there is no figure ${name}`);
  return Number(found);
}
const waiting = () => metric('signal_board_jobs_giving_way');

test('delays workflows while deliveries come too fast, and begins them when the deliveries are over', async () => {
  const url = await createHook();
  const statuses = new Set<number>();
  const until = performance.now() + LONGEST_MS;
  let isOver = false;
  let serial = 0;
  const loads = Array.from({ length: SENDERS }, async () => {
    while (!isOver && performance.now() < until) {
      serial += 1;
      const symbol = `T${serial % 40}USDT`;
      const alert = { symbol, action: 'buy', price: '100', timeframe: '15', processor: 'Tesla', serial };
      statuses.add(await deliver(url, JSON.stringify(alert)));
    }
  });
  let most = 0;
  while (most === 0 && performance.now() < until) {
    most = await waiting();
  }
  isOver = true;
  await Promise.all(loads);
  expect(most).toBeGreaterThan(0);
  // One that is stored too late for the charting platform is answered 503, and sent again.
  expect([...statuses].filter((status) => status !== 503)).toEqual([200]);
  await expect.poll(waiting, { timeout: 10_000 }).toBe(0);
});
