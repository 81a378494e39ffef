import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Feed } from '#contract/feeds.ts';
import { firstIdOf } from '#server/platform/ids.ts';
import { type FakeClock, fakeClock } from '#test/app/fake-clock.ts';
import type { TestClient } from '#test/app/test-client.ts';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type TestUser, type World } from '#test/world.ts';
import { watchFeeds } from './watch-feeds.ts';

const MINUTE_MS = 60_000;
const START = '2026-05-04T10:00:00.000Z';

let clock: FakeClock;
let board: World;
let user: TestUser;
let sender: TestSender;
let own: TestSender;

beforeAll(async () => {
  clock = fakeClock(START);
  board = await startWorld({ clock, config: { displayTimezone: 'UTC', webhookRateLimit: 0 } });
  user = await board.createUser();
  sender = await createSender({ app: board.app, client: board.admin });
  own = await createSender({ app: board.app, client: user.client });
});
beforeEach(async () => {
  clock.set(START);
  for (const table of [
    'feeds',
    'feed_gaps',
    'feed_sweeps',
    'notice_events',
    'notice_states',
    'price_logs',
    'price_log_hashes',
  ]) {
    await board.query(`delete from ${table}`);
  }
});
afterAll(() => board.close());

/** A candle of now, or of another time. */
async function candle(
  token: string,
  { by = sender, at = clock.now(), ...more }: { by?: TestSender; at?: Date; [field: string]: unknown } = {},
) {
  const DateTime = at.toISOString().slice(0, 16).replaceAll(/\D/g, '');
  const answer = await by.candle({
    Symbol: `${token}USDT`,
    Timeframe: '15',
    Close: '100',
    DateTime,
    ...more,
  });
  expect(answer.statusCode, answer.body).toBe(200);
}

/** The fake clock and the ids of rows are apart: the sweep begins with the first row. */
async function sweep({ listeningSince = new Date(0) } = {}) {
  await board.query(
    `insert into feed_sweeps (swept_to) values ($1) on conflict (is_only) do update set swept_to = $1`,
    [firstIdOf(new Date(0))],
  );
  await watchFeeds(board.deps, { listeningSince });
  const rows = await board.query('delete from notice_events returning code, user_id as "userId", data');
  return rows.map(({ code, userId, data }) => ({ code, userId, feeds: data.feeds }));
}

async function bring(token: string, candles: number, options: { by?: TestSender } = {}) {
  for (let count = 0; count < candles; count += 1) {
    if (count > 0) clock.advance(15 * MINUTE_MS);
    await candle(token, options);
  }
}
const feeds = async (client: TestClient = board.admin) =>
  (await client.get('/api/feeds')).json<{ feeds: Feed[] }>().feeds;

describe('the feed watch', () => {
  // Requirements: additions-alerts-14
  test('reports once when a feed is late, once when it is two candles late, and once when it is back', async () => {
    await bring('BTC', 3);
    expect(await sweep()).toEqual([]);
    expect(await feeds()).toMatchObject([
      {
        token: 'BTC',
        timeframe: '15',
        processor: null,
        state: 'ok',
        graceSeconds: 120,
        gaps7d: 0,
        skewSeconds: 0,
        hours: null,
      },
    ]);
    clock.advance(15 * MINUTE_MS + 121_000);
    expect(await sweep()).toMatchObject([{ code: 'feed_late', feeds: 'BTC 15m' }]);
    expect(await sweep()).toEqual([]);
    expect((await feeds())[0]?.state).toBe('late');
    clock.advance(28 * MINUTE_MS);
    expect(await sweep()).toMatchObject([{ code: 'feed_silent', feeds: 'BTC 15m' }]);
    expect(await sweep()).toEqual([]);
    expect((await feeds())[0]?.state).toBe('silent');
    await candle('BTC');
    expect(await sweep()).toMatchObject([{ code: 'feed_recovered', feeds: 'BTC 15m' }]);
    expect(await sweep()).toEqual([]);
    expect((await feeds())[0]).toMatchObject({ state: 'ok', gaps7d: 2 });
  });

  // Requirements: additions-alerts-14
  test('reports one candle that was withheld: within bar and grace, and once when the next one has come', async () => {
    await bring('BTC', 3);
    await sweep();
    clock.advance(15 * MINUTE_MS + 120_000);
    expect(await sweep()).toEqual([]);
    clock.advance(1);
    expect(await sweep()).toMatchObject([{ code: 'feed_late', feeds: 'BTC 15m' }]);
    clock.advance(13 * MINUTE_MS - 1);
    await candle('BTC');
    expect(await sweep()).toMatchObject([{ code: 'feed_recovered', feeds: 'BTC 15m' }]);
    expect(await sweep()).toEqual([]);
    expect((await feeds())[0]).toMatchObject({ state: 'ok', gaps7d: 1 });
    expect(await board.query('select key from notice_states')).toEqual([]);
  });

  test('learns for three candles, and counts a candle once however often it is read', async () => {
    await bring('BTC', 2);
    await sweep();
    await sweep();
    expect((await feeds())[0]?.state).toBe('learning');
    clock.advance(24 * 60 * MINUTE_MS);
    expect(await sweep()).toEqual([]);
  });

  test('reports all feeds of an owner at once, and to each owner their own', async () => {
    for (const token of ['AAA', 'BBB', 'CCC', 'DDD', 'EEE', 'FFF', 'GGG']) {
      clock.set(START);
      await bring(token, 3);
    }
    clock.set(START);
    await bring('OWN', 3, { by: own });
    await sweep();
    clock.advance(3 * 60 * MINUTE_MS);
    const events = await sweep();
    expect(events).toHaveLength(2);
    expect(events.find(({ userId }) => userId === user.user.id)?.feeds).toBe('OWN 15m');
    expect(events.find(({ userId }) => userId !== user.user.id)?.feeds).toMatch(/^AAA 15m, .* and 2 more$/);
    expect((await feeds(user.client)).map(({ token }) => token)).toEqual(['OWN']);
  });

  test('does not blame a feed for the time in which the program was down', async () => {
    await bring('BTC', 3);
    await sweep();
    clock.advance(5 * 60 * MINUTE_MS);
    const listeningSince = clock.now();
    expect(await sweep({ listeningSince })).toEqual([]);
    clock.advance(46 * MINUTE_MS);
    expect((await sweep({ listeningSince })).map(({ code }) => code)).toEqual(['feed_silent']);
  });

  test('expects candles within the hours that were set, and says nothing of a muted feed', async () => {
    await bring('BTC', 3);
    await sweep();
    const [feed] = await feeds();
    const put = (body: object) => board.admin.put(`/api/feeds/${feed?.id}`, body);
    const hours = { from: '13:50', to: '18:00' };
    expect((await put({ hours })).json()).toMatchObject({ hours });
    clock.set('2026-05-04T13:49:00.000Z');
    expect(await sweep(), 'before they begin').toEqual([]);
    clock.set('2026-05-04T14:35:00.000Z');
    expect(
      (await sweep()).map(({ code }) => code),
      'two candles after they began',
    ).toEqual(['feed_late']);
    clock.set('2026-05-04T14:35:01.000Z');
    expect((await sweep()).map(({ code }) => code)).toEqual(['feed_silent']);
    expect((await put({ muted: true, hours: null })).json()).toMatchObject({ state: 'muted', hours: null });
    expect(await sweep()).toEqual([]);
    clock.advance(60 * MINUTE_MS);
    expect(await sweep()).toEqual([]);
    expect((await put({ muted: false, graceSeconds: 604_800 })).json()).toMatchObject({
      graceSeconds: 604_800,
    });
    expect(await sweep()).toEqual([]);
  });

  test('shows how far the clocks are apart', async () => {
    await candle('BTC', { at: new Date(clock.now().getTime() - 16 * MINUTE_MS) });
    await sweep();
    expect((await feeds())[0]).toMatchObject({ skewSeconds: 60 });
  });

  test('judges no clock by candles of the past that come at once, but by those that follow', async () => {
    const late = (minutes: number) => ({ at: new Date(clock.now().getTime() - minutes * MINUTE_MS) });
    for (const minutes of [36, 21, 6]) await candle('BTC', late(minutes));
    await sweep();
    expect((await feeds())[0]).toMatchObject({ skewSeconds: null });
    // The next one is a minute old, as those of this sender are.
    clock.advance(10 * MINUTE_MS);
    await candle('BTC', late(1));
    await sweep();
    expect((await feeds())[0]).toMatchObject({ skewSeconds: 60 });
  });

  test('forgets feeds of a webhook that was deleted', async () => {
    const leaver = await board.createUser();
    await bring('BTC', 3, { by: await createSender({ app: board.app, client: leaver.client }) });
    await sweep();
    expect(await feeds(leaver.client)).toHaveLength(1);
    await board.query('delete from hooks where user_id = $1', [leaver.user.id]);
    clock.advance(3 * 60 * MINUTE_MS);
    expect(await sweep()).toEqual([]);
    await board.query('delete from price_logs');
    await sweep();
    expect(await feeds(leaver.client)).toEqual([]);
  });
});

test('a feed is changed by its owner and administrators only, with an entry in the audit trail', async () => {
  await bring('OWN', 1, { by: own });
  await sweep();
  const [feed] = await feeds(user.client);
  const stranger = await board.createUser();
  const url = `/api/feeds/${feed?.id}`;
  expect((await stranger.client.put(url, { muted: true })).statusCode).toBe(404);
  expect((await user.client.put(url, { muted: true })).statusCode).toBe(200);
  expect((await board.admin.put(url, { graceSeconds: 300 })).statusCode).toBe(200);
  for (const body of [
    { graceSeconds: 0 },
    { graceSeconds: 1.5 },
    { hours: { from: '9', to: '10' } },
    { muted: 'yes' },
  ]) {
    expect((await user.client.put(url, body)).statusCode).toBe(400);
  }
  const entries = await board.query(
    "select actor_name, subject_kind, before, after from audit_log where action = 'feed watch changed' and subject_id = $1 order by id",
    [feed?.id],
  );
  expect(entries).toMatchObject([
    { actor_name: user.username, subject_kind: 'feed', before: { muted: false }, after: { muted: true } },
    { before: { graceSeconds: 120 }, after: { graceSeconds: 300 } },
  ]);
});
