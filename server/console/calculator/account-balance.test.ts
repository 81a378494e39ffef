import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { startWorld, type World } from '#test/world.ts';

const board = await startWorld({ config: { paperBalance: '2500.5' } });
afterAll(() => board.close());

const balanceOf = (userId: string) => board.admin.get(`/api/admin/account-balance/${userId}`);
const setPlatform = (userId: string, platform: string) =>
  board.query('update user_settings set exchange_platform = $2 where user_id = $1', [userId, platform]);

// Requirements: trading-fields-15, trading-calls-19
test('returns the balance of the user’s paper account', async () => {
  const { user } = await board.createUser();
  const answer = await balanceOf(user.id);
  expect(answer.statusCode, answer.body).toBe(200);
  expect(answer.json()).toEqual({
    success: true,
    data: {
      exchangePlatform: 'Bitget',
      futuresBalance: '2500.5',
      futuresAvailable: '2500.5',
      futuresLocked: '0',
      futuresInPositions: '0',
      spotBalance: '0',
      spotAvailable: '0',
      spotLocked: '0',
      displayFuturesBalance: '$2500.50',
      displayFuturesAvailable: '$2500.50',
      displaySpotBalance: '$0.00',
      displaySpotAvailable: '$0.00',
    },
  });
});

test('answers 404 for an unknown user, and 400 for a malformed id', async () => {
  expectAnswer(await balanceOf(UNKNOWN_ID), 404, 'User settings not found');
  expect((await balanceOf('none')).statusCode).toBe(400);
});

test('answers 503 with the name of an unsupported exchange', async () => {
  const { user } = await board.createUser();
  await setPlatform(user.id, 'Mt. Gox');
  const answer = await balanceOf(user.id);
  expect(answer.statusCode).toBe(503);
  expect(answer.json().message).toContain('Mt. Gox');
});

describe('in demo mode', () => {
  const NOBODY_THERE = 'http://127.0.0.1:9';
  let demo: World;
  let path: string;
  beforeAll(async () => {
    demo = await startWorld({
      config: {
        exchangeMode: 'demo',
        bitgetBaseUrl: NOBODY_THERE,
        bybitBaseUrl: NOBODY_THERE,
        exchangeTimeoutMs: 1000,
      },
    });
    path = `/api/admin/account-balance/${(await demo.createUser()).user.id}`;
  });
  afterAll(() => demo.close());

  test('answers 503 with the exchange when no key is connected', async () => {
    const answer = await demo.admin.get(path);
    expect([answer.statusCode, answer.json().message]).toEqual([503, expect.stringContaining('Bitget')]);
  });

  // Requirements: trading-calls-19
  test('answers 503 with the error when the exchange does not answer', async () => {
    demo.deps.findAccount = async (userId) => ({
      userId,
      environment: 'demo',
      credentials: { apiKey: 'key', apiSecret: 'secret', passphrase: 'phrase', accountMode: 'classic' },
    });
    const answer = await demo.admin.get(path);
    const message = expect.stringMatching(/^Balance API Error: /);
    expect([answer.statusCode, answer.json().message]).toEqual([503, message]);
  });
});
