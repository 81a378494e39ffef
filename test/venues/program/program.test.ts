import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ExchangeRegistry } from '#server/exchanges/registry.ts';
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { accountModeOf, platformOf, type SuiteDialect } from '../exchange-suite-words.ts';
import { buy, inTime, testRegistry } from '../test-registry.ts';
import { madeUpPrices } from './prices.ts';
import { type ProgramKeys, startVenueProgram, type VenueProgram } from './program.ts';

let own: TestDatabase;
let program: VenueProgram;
let registry: ExchangeRegistry;

beforeAll(async () => {
  own = await createTestDatabase();
  program = await startVenueProgram({
    database: own.database,
    port: 0,
    seed: '1',
    walkEveryMs: 0,
    startBalance: '5000',
    onError: (error) => {
      throw error;
    },
  });
  registry = testRegistry({ exchangeMode: 'demo', bitgetBaseUrl: program.url, bybitBaseUrl: program.url });
});
afterAll(async () => {
  await registry?.close();
  await program?.close();
  await own?.close();
});

const control = async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await fetch(`${program.url}/paper/${path}`, { ...init, headers });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const accountOn = (keys: ProgramKeys, dialect: SuiteDialect) => ({
  userId: dialect,
  environment: 'demo' as const,
  credentials: { ...keys, accountMode: accountModeOf(dialect) },
});

describe.each<SuiteDialect>(['Bitget', 'Bitget unified', 'Bybit'])('%s', (dialect) => {
  test('trades with the keys printed at startup, at prices that are set', async () => {
    const platform = platformOf(dialect);
    const exchange = registry.get(platform);
    const account = accountOn(dialect === 'Bitget unified' ? program.unifiedKeys : program.keys, dialect);
    expect(await exchange.inspectKey(account)).toMatchObject({
      accountMode: accountModeOf(dialect),
      mayTrade: true,
      mayWithdraw: false,
    });
    expect(await exchange.fetchBalance(account)).toMatchObject({ futuresAvailable: '5000' });
    await exchange.prepareAccount(account, { token: 'BTC', leverage: 10 });
    await control('prices', { BTC: '60000' });
    const changes = { price: '60000', stopLoss: '59000', takeProfit: '62000' };
    const order = buy({ clientOrderId: `served-${dialect.replace(' ', '-')}`, ...changes });
    const placed = await exchange.placeOrder(account, order, inTime());
    expect(placed).toMatchObject({ outcome: 'placed' });
    expect(await exchange.findOrder(account, order)).toMatchObject({
      state: 'filled',
      averagePrice: '60000',
    });
    const { body } = await control('ledger');
    expect(body.orders).toContainEqual(
      expect.objectContaining({ platform, clientOrderId: order.clientOrderId, state: 'filled' }),
    );
  });
});

describe('the control', () => {
  test('sets faults, permanently with "times": null, and removes them', async () => {
    await control('faults', [{ kind: 'badGatewayBefore', on: { operation: 'time', times: null } }]);
    for (let count = 0; count < 3; count += 1) {
      expect((await fetch(`${program.url}/v5/market/time`)).status).toBe(502);
    }
    await control('faults', []);
    expect((await fetch(`${program.url}/v5/market/time`)).status).toBe(200);
  });

  test.each([
    ['prices', 'sixty thousand'],
    ['prices', { BTC: 0 }],
    ['prices', { '../x': 1 }],
    ['faults', { kind: 'html200' }],
    ['faults', [null]],
    ['faults', [{ on: {} }]],
    ['keys', { accountMode: 'spot' }],
  ])('refuses %s of %j', async (path, body) => {
    expect(await control(path, body)).toMatchObject({ status: 400, body: { error: expect.any(String) } });
  });

  test('refuses a page in a browser, whatever host name it uses', async () => {
    expect((await control('ledger', undefined, { origin: 'https://example.com' })).status).toBe(403);
    expect((await control('prices', { BTC: 1 }, { origin: program.url })).status).toBe(403);
    const asAnother = await new Promise<number>((resolve, reject) => {
      import('node:http').then(({ get }) => {
        const headers = { host: 'exchange.example.com' };
        get(`${program.url}/paper/ledger`, { headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        }).on('error', reject);
      }, reject);
    });
    expect(asAnother).toBe(403);
  });

  test('other keys open another account', async () => {
    for (const dialect of ['Bybit', 'Bitget unified'] as const) {
      const accountMode = accountModeOf(dialect);
      const { body } = await control('keys', { accountMode });
      expect(body.apiKey).not.toBe(program.keys.apiKey);
      const account = { ...accountOn(body as unknown as ProgramKeys, dialect), userId: `other ${dialect}` };
      const exchange = registry.get(platformOf(dialect));
      expect(await exchange.inspectKey(account)).toMatchObject({ accountMode });
      expect(await exchange.fetchBalance(account)).toMatchObject({ futuresBalance: '5000' });
    }
  });
});

describe('prices', () => {
  const run = (seed: string) => {
    const prices = madeUpPrices({ seed, stepSeconds: 60 });
    return Array.from({ length: 20 }, () => prices.step().BTC);
  };

  test('are determined by their seed', () => {
    expect(run('1')).toEqual(run('1'));
    expect(run('1')).not.toEqual(run('2'));
  });

  test('continue from a price that was set', () => {
    const prices = madeUpPrices({ seed: '1', stepSeconds: 1 });
    prices.set('BTC', '100000');
    expect(Math.abs(Number(prices.step().BTC) - 100_000)).toBeLessThan(1_000);
    prices.set('NEW', '1.5');
    expect(prices.now().NEW).toBe('1.5');
  });
});

testEveryCase('with documented limits, refuses an address that asks too often', async () => {
  const limited = await startVenueProgram({
    database: own.database,
    port: 0,
    seed: '1',
    walkEveryMs: 0,
    startBalance: '5000',
    limits: 'documented',
    onError: (error) => {
      throw error;
    },
  });
  try {
    const time = () => fetch(`${limited.url}/v5/market/time`).then((answer) => answer.json());
    // 50 a second are allowed, however slow the machine is.
    const answers = (await Promise.all(Array.from({ length: 400 }, time))) as { retCode: number }[];
    expect(answers[0]).toMatchObject({ retCode: 0 });
    expect(answers).toContainEqual(expect.objectContaining({ retCode: 10_006 }));
  } finally {
    await limited.close();
  }
});

testEveryCase('the command prints the settings and shuts down cleanly when stopped, even twice', async () => {
  const { host, port, user, database } = own.database.connection as ServerConnection;
  const books = `postgresql:///${database}?host=${encodeURIComponent(host)}&port=${port}&user=${user}`;
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', main, '--port', '0', '--database-url', books];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    let output = '';
    for await (const text of child.stdout.setEncoding('utf8')) {
      output += text;
      if (output.includes('/paper/ledger')) break;
    }
    expect(output).toMatch(/BITGET_BASE_URL=(http:\/\/127\.0\.0\.1:\d+)\n {2}BYBIT_BASE_URL=\1/);
    // A request in progress delays the shutdown, so that the second signal arrives during it.
    const url = /BITGET_BASE_URL=(\S+)/.exec(output)?.[1];
    const faults = [{ kind: 'delay', delayMs: 5_000 }];
    await fetch(`${url}/paper/faults`, { method: 'POST', body: JSON.stringify(faults) });
    const held = request(`${url}/v5/market/time`, { headers: { expect: '100-continue' } }).end();
    await once(held, 'continue');
    const broken = once(held, 'error');
    child.kill('SIGTERM');
    expect(await broken).toMatchObject([{ code: 'ECONNRESET' }]);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
});
