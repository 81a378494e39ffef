import { afterEach, expect, test } from 'vitest';
import type { SignalStats } from '#contract/signals.ts';
import { addUpList } from '#server/platform/db/list-totals/add-up-list.ts';
import { fakeClock } from '#test/app/fake-clock.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';

let board: World;
let sender: TestSender;
const clock = fakeClock('2026-01-02T00:00:00Z');

async function start(displayTimezone: string, now: string) {
  clock.set(now);
  board = await startWorld({ clock, config: { displayTimezone } });
  sender = await createSender({ app: board.app, client: board.admin });
}
afterEach(() => board.close());

/** Stores a signal as received at this instant, which may be before the start. */
async function receive(at: string) {
  const answer = await sender.signal({ time: at });
  expect(answer.statusCode, answer.body).toBe(200);
  const { id } = answer.json();
  await board.query('update signals set received_at = $2 where id = $1', [id, at]);
}

/** Signs in again for each call: an administrator's session does not outlive a month of the clock. */
async function perDay(): Promise<SignalStats['perDay']> {
  const client = await board.signIn('admin@example.com', 'correct horse battery');
  return (await client.get('/api/signals/stats')).json<SignalStats>().perDay;
}

const counted = (days: SignalStats['perDay']) => days.filter(({ count }) => count > 0);

test('without signals returns thirty days of zero up to today', async () => {
  await start('America/Los_Angeles', '2026-03-01T05:00:00Z');
  const days = await perDay();
  expect(days).toHaveLength(30);
  expect(new Set(days.map(({ day }) => day)).size).toBe(30);
  expect([days[0], days[28], days[29]]).toEqual([
    { day: '2026-01-30', count: 0 },
    { day: '2026-02-27', count: 0 },
    { day: '2026-02-28', count: 0 },
  ]);
});

// Requirements: additions-charts-4
test('counts a signal on the day of its receipt in the display time zone', async () => {
  await start('America/Los_Angeles', '2026-01-31T20:00:00Z');
  // The first of the thirty days began at 8:00 UTC.
  await receive('2026-01-02T07:59:59.999Z');
  await receive('2026-01-02T08:00:00.000Z');
  await receive('2026-01-03T07:59:59.999Z');
  await receive('2026-01-03T08:00:00.000Z');
  await receive('2026-01-31T07:59:59.999Z');
  await receive('2026-01-31T08:00:00.000Z');
  await receive('2026-01-31T20:00:00.000Z');
  expect(counted(await perDay())).toEqual([
    { day: '2026-01-02', count: 2 },
    { day: '2026-01-03', count: 1 },
    { day: '2026-01-30', count: 1 },
    { day: '2026-01-31', count: 2 },
  ]);
});

test('days on which the clock changes have 25 and 23 hours', async () => {
  await start('America/Los_Angeles', '2026-11-10T20:00:00Z');
  await receive('2026-11-01T06:59:59.999Z');
  await receive('2026-11-01T07:00:00.000Z');
  await receive('2026-11-02T07:59:59.999Z');
  await receive('2026-11-02T08:00:00.000Z');
  const autumn = await perDay();
  expect(counted(autumn)).toEqual([
    { day: '2026-10-31', count: 1 },
    { day: '2026-11-01', count: 2 },
    { day: '2026-11-02', count: 1 },
  ]);
  expect(new Set(autumn.map(({ day }) => day)).size).toBe(30);

  clock.set('2027-03-20T20:00:00Z');
  await receive('2027-03-14T07:59:59.999Z');
  await receive('2027-03-14T08:00:00.000Z');
  await receive('2027-03-15T06:59:59.999Z');
  await receive('2027-03-15T07:00:00.000Z');
  expect(counted(await perDay())).toEqual([
    { day: '2027-03-13', count: 1 },
    { day: '2027-03-14', count: 2 },
    { day: '2027-03-15', count: 1 },
  ]);
});

testEveryCase('starts a new day after midnight', async () => {
  await start('Asia/Kolkata', '2026-01-31T18:29:59.999Z');
  await receive('2026-01-31T18:29:59.000Z');
  expect((await perDay()).at(-1)).toEqual({ day: '2026-01-31', count: 1 });
  clock.advance(1);
  expect((await perDay()).slice(-2)).toEqual([
    { day: '2026-01-31', count: 1 },
    { day: '2026-02-01', count: 0 },
  ]);
});

test('returns the same counts from totals, also in a time zone half an hour off UTC', async () => {
  await start('Asia/Kolkata', '2026-01-31T20:00:00Z');
  // In Kolkata a day begins at 18:30 UTC.
  await receive('2026-01-30T18:29:59.999Z');
  await receive('2026-01-30T18:30:00.000Z');
  await receive('2026-01-31T18:30:00.000Z');
  const ask = async () => {
    const { perDay, ...counts } = (await board.admin.get('/api/signals/stats')).json<SignalStats>();
    return { ...counts, days: counted(perDay) };
  };
  const before = await ask();
  expect(before).toEqual({
    totalSignals: 3,
    todaySignals: 1,
    buySignals: 3,
    sellSignals: 0,
    days: [
      { day: '2026-01-30', count: 1 },
      { day: '2026-01-31', count: 1 },
      { day: '2026-02-01', count: 1 },
    ],
  });
  await addUpList(board.deps.db, 'signals', { marginMs: 0 });
  expect((await board.query('select from signal_totals_by_quarter')).length).toBe(3);
  expect(await ask()).toEqual(before);
  await receive('2026-01-31T19:00:00.000Z');
  expect(await ask()).toMatchObject({ totalSignals: 4, todaySignals: 2 });
});
