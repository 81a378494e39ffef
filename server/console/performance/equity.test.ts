import { eq } from 'drizzle-orm';
import { afterAll, describe, expect, test } from 'vitest';
import type { EquityAnswer, EquityTrendsAnswer } from '#contract/performance.ts';
import { recordSnapshot, type SnapshotReason } from '#server/engine/protection/account-figures.store.ts';
import { users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { startWorld, type TestUser } from '#test/world.ts';

/** In the middle of the present hour. */
const clock = fakeClock(`${new Date().toISOString().slice(0, 13)}:20:00Z`);
/** Midnight in Los Angeles is 08:00 UTC in winter. */
const board = await startWorld({ clock, config: { displayTimezone: 'America/Los_Angeles' } });
afterAll(() => board.close());
const { db } = board.deps;
const [ada, bob, eve] = [
  await board.createTrader(),
  await board.createTrader(),
  await board.createTrader({ exchangePlatform: 'Bybit' }),
];

/** What was recorded of an account, a line a time: '2026-02-01T10:00 100'. */
async function record(
  { user: { id: userId } }: TestUser,
  lines: readonly string[],
  { takenFor = 'hour', exchangePlatform = 'Bitget', exchangeMode = 'paper' as 'paper' | 'live' } = {},
): Promise<void> {
  for (const line of lines) {
    const [at = '', equity = ''] = line.split(' ');
    await recordSnapshot(db, {
      id: timeOrderedId(),
      userId,
      exchangePlatform,
      exchangeMode,
      at: new Date(`${at}:03Z`),
      takenFor: takenFor as SnapshotReason,
      equity,
      walletBalance: equity,
      openProfit: '0',
      netDeposits: null,
      positions: [],
    });
  }
}
await record(ada, [
  '2026-01-31T23:00 90',
  '2026-02-01T10:00 100',
  '2026-02-01T11:00 110.5',
  '2026-02-01T13:00 120',
]);
await record(ada, ['2026-02-01T10:20 7777'], { takenFor: 'trade' });
await record(ada, ['2026-02-01T10:40 8888'], { exchangeMode: 'live' });
await record(bob, ['2026-02-01T11:00 1000', '2026-02-01T12:00 990', '2026-02-01T13:00 995']);
await record(eve, ['2026-02-01T10:00 50', '2026-02-01T11:00 55'], { exchangePlatform: 'Bybit' });
await db.update(users).set({ isActive: false }).where(eq(users.id, eve.user.id));

async function equity(query: string, client = board.admin): Promise<EquityAnswer> {
  const answer = await client.get(`/api/performance/equity?${query}`);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
}
const linesOf = ({ points }: EquityAnswer) =>
  points.map(
    ({ at, equity: worth, change, accounts, complete }) =>
      `${at.slice(5, 16)} ${worth} of ${accounts}, ${change}${complete ? '' : ', incomplete'}`,
  );
const DAY = 'from=2026-02-01T10:00:00Z&to=2026-02-01T14:00:00Z';

// Requirements: results-equity-1
describe('equity', () => {
  test('is the sum of what was recorded of each account, and says where an account was not read', async () => {
    const answer = await equity(DAY);
    expect(linesOf(answer)).toEqual([
      '02-01T10:00 150 of 2, 0',
      // The new account of bob is no gain.
      '02-01T11:00 1165.5 of 3, 15.5',
      // That of eve, who was switched off, leaves; ada's was not read.
      '02-01T12:00 1100.5 of 2, 5.5, incomplete',
      '02-01T13:00 1115 of 2, 20',
    ]);
    expect(answer).toMatchObject({ unit: 'hour', deposits: 'none', timeZone: 'America/Los_Angeles' });
    // 10 of 1,110.5: that an account came and one left is no gain and no fall.
    expect(answer.maxDrawdown).toEqual({ amount: '10', percent: '0.90' });
    expect(linesOf(await equity(`${DAY}&userId=${bob.user.id}`))).toEqual([
      '02-01T11:00 1000 of 1, 0',
      '02-01T12:00 990 of 1, -10',
      '02-01T13:00 995 of 1, -5',
    ]);
  });

  test('begins with what accounts were worth before the range', async () => {
    expect(linesOf(await equity('from=2026-02-01T12:00:00Z&to=2026-02-01T14:00:00Z'))).toEqual([
      '02-01T12:00 1100.5 of 2, 0, incomplete',
      '02-01T13:00 1115 of 2, 14.5',
    ]);
  });

  test('has a point a day of the display zone over more than 8 days, and a week over more than 100', async () => {
    const days = [
      '2026-03-01T08:00 200',
      '2026-03-02T08:00 210',
      '2026-03-08T08:00 190',
      '2026-03-09T07:00 195',
    ];
    await record(ada, days, { takenFor: 'day' });
    await record(ada, ['2026-03-01T09:00 9999']);
    const answer = await equity(`from=2026-03-01T08:00:00Z&to=2026-03-10T07:00:00Z&userId=${ada.user.id}`);
    expect(answer.unit).toBe('day');
    expect(linesOf(answer)).toEqual([
      '03-01T08:00 200 of 1, 0',
      '03-02T08:00 210 of 1, 10',
      '03-08T08:00 190 of 1, -10',
      '03-09T07:00 195 of 1, -5',
    ]);
    // Weeks begin on Monday; the clocks change in the night to 8 March.
    const weeks = await equity(`from=2026-03-01T08:00:00Z&to=2026-07-01T07:00:00Z&userId=${ada.user.id}`);
    expect(weeks.unit).toBe('week');
    expect(linesOf(weeks)).toEqual([
      '02-23T08:00 200 of 1, 0',
      '03-02T08:00 210 of 1, 10',
      '03-09T07:00 195 of 1, -5',
    ]);
  });

  test('ends with what is known now, and without records it is empty', async () => {
    const now = clock.now();
    await record(bob, [`${now.toISOString().slice(0, 13)}:00 1001`]);
    await record(bob, [`${now.toISOString().slice(0, 13)}:00 1002`], { takenFor: 'trade' });
    const answer = await equity(
      `from=${new Date(now.getTime() - 7_200_000).toISOString()}&userId=${bob.user.id}`,
    );
    expect(answer.points.map(({ equity: worth }) => worth)).toEqual(['1001', '1002']);
    expect(answer.points.at(-1)?.at).toBe(answer.at);
    const whole = await equity(`userId=${bob.user.id}`);
    expect(whole).toMatchObject({ unit: 'week' });
    expect((await equity('to=2020-01-01T00:00:00Z')).points).toEqual([]);
    const { accounts } = (
      await board.admin.get('/api/performance/equity/accounts')
    ).json<EquityTrendsAnswer>();
    expect(accounts.map(({ userId, points }) => [userId, points.map(({ equity: worth }) => worth)])).toEqual([
      [bob.user.id, ['1001']],
    ]);
  });

  test('is shown to its user, and to administrators', async () => {
    expect(linesOf(await equity(DAY, bob.client))).toEqual(
      linesOf(await equity(`${DAY}&userId=${bob.user.id}`)),
    );
    const trends = await ada.client.get('/api/performance/equity/accounts');
    expect(trends.json<EquityTrendsAnswer>().accounts, trends.body).toEqual([]);
    const other = await bob.client.get(`/api/performance/equity?userId=${ada.user.id}`);
    expectAnswer(other, 403, 'Administrators only');
    const wrong = await board.admin.get(
      '/api/performance/equity?from=2026-02-02T00:00:00Z&to=2026-02-01T00:00:00Z',
    );
    expect(wrong.statusCode).toBe(400);
  });
});
