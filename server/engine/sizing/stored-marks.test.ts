import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSender, type TestSender } from '#test/app/test-sender.ts';
import { startWorld, type World } from '#test/world.ts';
import { storedMarks } from './stored-marks.ts';

const marks = storedMarks();
let board: World;
let admin: TestSender;
let user: TestSender;
let userId: string;

/** Four prices of BTC in this order: a candle and a signal of the administrator, then a candle and a signal of a user. */
beforeAll(async () => {
  board = await startWorld();
  admin = await createSender({ app: board.app, client: board.admin });
  const owner = await board.createUser();
  userId = owner.user.id;
  user = await createSender({ app: board.app, client: owner.client });
  await admin.candle({ Close: '101' });
  await admin.signal({ price: '102.50' });
  await user.candle({ Close: '103' });
  await user.signal({ price: '104' });
  await user.signal({ symbol: 'OWN', price: '7' });
});
afterAll(() => board.close());

const at = (viewer: string | null) => ({ db: board.database.db, userId: viewer });
const newest = async (token: string, viewer: string | null) =>
  (await marks.newest([token], at(viewer))).get(token)?.price ?? null;
const pricesSince = async (cursor: string | null, viewer: string | null) =>
  (await marks.since('BTC', cursor, at(viewer))).map(({ price }) => price);

test('uses the newest price of a token’s candles and signals, a user’s own only for that user', async () => {
  expect(await newest('BTC', null)).toBe('102.5');
  expect(await newest('BTC', userId)).toBe('104');
  expect(await newest('OWN', userId)).toBe('7');
  expect(await newest('OWN', null)).toBeNull();
  expect(await newest('DOGE', userId)).toBeNull();
});

test('reads the marks of several tokens together, and omits tokens without a price', async () => {
  const found = await marks.newest(['OWN', 'DOGE', 'BTC'], at(userId));
  expect(new Map([...found].map(([token, { price }]) => [token, price]))).toEqual(
    new Map([
      ['OWN', '7'],
      ['BTC', '104'],
    ]),
  );
  expect(await marks.newest([], at(userId))).toEqual(new Map());
});

test('returns the marks after a cursor in order of arrival', async () => {
  expect(await pricesSince(null, null)).toEqual(['101', '102.5']);
  expect(await pricesSince(null, userId)).toEqual(['101', '102.5', '103', '104']);
  const [, second] = await marks.since('BTC', null, at(userId));
  expect(await pricesSince(second?.cursor ?? null, userId)).toEqual(['103', '104']);
  const last = (await marks.newest(['BTC'], at(userId))).get('BTC');
  expect(await pricesSince(last?.cursor ?? null, userId)).toEqual([]);
  expect(last?.at).toBeInstanceOf(Date);
});

test('reports tokens with a mark after their cursor as moved', async () => {
  const last = (await marks.newest(['BTC'], at(userId))).get('BTC')?.cursor ?? null;
  const lastForAll = (await marks.newest(['BTC'], at(null))).get('BTC')?.cursor ?? null;
  const moved = async (cursor: string | null, viewer: string | null) => {
    if (typeof marks.moved === 'function') throw new Error('they lie in the database');
    const known = { token: sql`known.token`, cursor: sql`known.cursor`, userId: sql`${viewer}::uuid` };
    const { rows } = await board.database.db.execute<{ token: string }>(sql`
      select token from (values ('BTC', ${cursor}::text), ('OWN', null), ('DOGE', null)) as known (token, cursor)
      where ${marks.moved.condition(known)}`);
    return rows.map(({ token }) => token);
  };
  expect(await moved(null, null)).toEqual(['BTC']);
  expect(await moved(lastForAll, null)).toEqual([]);
  expect(await moved(lastForAll, userId)).toEqual(['BTC', 'OWN']);
  expect(await moved(last, userId)).toEqual(['OWN']);
});

test('reads more marks than a page holds page by page, each once', async () => {
  await board.database.pool.query(
    `insert into price_logs (id, hook_id, owner_user_id, from_admin, token, timeframe, price, currency,
       candle_time_tradingview, candle_time_server, received_at, source_ip, hash_value, parameters)
     select gen_random_uuid(), gen_random_uuid(), $1, true, 'MANY', '15', n, 'USDT', '', now(), now(), '', n::text, '{}'
     from generate_series(1, 1200) as n`,
    [userId],
  );
  const seen: string[] = [];
  let cursor: string | null = null;
  for (;;) {
    const page = await marks.since('MANY', cursor, at(null));
    if (page.length === 0) break;
    seen.push(...page.map(({ price }) => price));
    cursor = page.at(-1)?.cursor ?? null;
  }
  expect(new Set(seen).size).toBe(1200);
  expect(seen).toHaveLength(1200);
});

test('knows every token that has a price', async () => {
  expect(await marks.tokens({ db: board.database.db })).toEqual(['BTC', 'MANY', 'OWN']);
});
