import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';

let board: World;
let user: TestUser;
let other: TestUser;

const sent = (name: string) => ({
  symbol: `${name}USDT`,
  timeframe: `${name}-tf`,
  processor: `${name} processor`,
});

beforeAll(async () => {
  board = await startWorld();
  user = await board.createUser();
  other = await board.createUser();
  for (const [name, client] of [
    ['ADMIN', board.admin],
    ['USER', user.client],
    ['OTHER', other.client],
  ] as const) {
    const sender = await createSender({ app: board.app, client });
    const { symbol, timeframe, processor } = sent(name);
    expect((await sender.signal(sent(name))).statusCode).toBe(200);
    const candle = { Symbol: symbol, Timeframe: timeframe, processor };
    expect((await sender.candle(candle)).statusCode).toBe(200);
  }
});
afterAll(() => board.close());

const asked = async (client: World['admin'], path: string) => (await client.get(path)).json<string[]>();

describe('data of ordinary users', () => {
  test.each([
    ['/api/signals/tokens', 'ADMIN'],
    ['/api/signals/processors', 'ADMIN processor'],
    ['/api/signals/timeframes', 'ADMIN-tf'],
    ['/api/price-logs/tokens', 'ADMIN'],
    ['/api/price-logs/processors', 'ADMIN processor'],
    ['/api/price-logs/timeframes', 'ADMIN-tf'],
    ['/api/automation-workflows/processors', 'ADMIN processor'],
  ])('is not among the filters of %s', async (path, own) => {
    expect(await asked(board.admin, path)).toEqual([own]);
  });

  test('is stored, listed and can be used as a filter', async () => {
    const { total } = (await board.admin.get('/api/signals?processor=OTHER+processor')).json();
    expect(total).toBe(1);
  });

  test('is offered in the settings of its sender, next to the data of administrators', async () => {
    const usual = ['Any', '1m', '2m', '5m', '15m', '30m', '1h', '4h', '1d'];
    const timeframes = '/api/user-settings/signal-timeframes';
    expect(await asked(user.client, timeframes)).toEqual([...usual, 'ADMIN-tf', 'USER-tf']);
    expect(await asked(other.client, timeframes)).toEqual([...usual, 'ADMIN-tf', 'OTHER-tf']);
    const processors = '/api/user-settings/signal-processors';
    const always = ['Tesla', 'UD Bot', 'Any'];
    expect(await asked(user.client, processors)).toEqual([...always, 'ADMIN processor', 'USER processor']);
    expect(await asked(board.admin, processors)).toEqual([...always, 'ADMIN processor']);
  });
});

test('offers one administrator’s values to another', async () => {
  const { client } = await board.createUser({ isAdmin: true });
  expect(await asked(client, '/api/signals/tokens')).toEqual(['ADMIN']);
});
