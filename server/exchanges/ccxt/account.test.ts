import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '#server/platform/clock.ts';
import { createLog } from '#server/platform/log.ts';
import { countStatements } from '#test/app/count-statements.ts';
import { testInTurn } from '#test/app/in-turn.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { accountModeOf, platformOf, SUITE_DIALECTS } from '#test/venues/exchange-suite-words.ts';
import { memoryMarks } from '#test/venues/memory-marks.ts';
import { listenVenue, type VenueServer } from '#test/venues/server.ts';
import { buy, newId, recording, testRegistry } from '#test/venues/test-registry.ts';
import { createVenue, type TestVenue } from '#test/venues/venue.ts';
import { TRADING_KEY, venueCredentials } from '#test/venues/venue-credentials.ts';
import type { Exchange, ExchangeAccount } from '../exchange.ts';
import type { ExchangeRegistry } from '../registry.ts';

/* How many requests an order takes, from the first question about its account to the stop of its position. */

const SECRET_KEY = 'a secret key that only these tests use';
const TOKENS = ['BTC', 'ETH'];

let database: TestDatabase;
let venue: TestVenue;
let server: VenueServer;
let registry: ExchangeRegistry;
/** The users whose accounts at Bitget are unified. */
const unified = new Set<string>();

beforeAll(async () => {
  database = await createTestDatabase();
  const { db, pool } = database.database;
  const marks = memoryMarks();
  for (const token of TOKENS) marks.push(token, '65000');
  venue = createVenue({
    db,
    marks,
    clock: systemClock,
    startBalance: '10000',
    newAccountMode: 'one_way_mode',
    credentialsFor: (userId) => venueCredentials(userId, SECRET_KEY),
    keyOf: (userId) => (unified.has(userId) ? { ...TRADING_KEY, accountMode: 'unified' } : TRADING_KEY),
  });
  server = await listenVenue(venue, { port: 0 });
  const shared = { pool, log: createLog({ level: 'silent' }) };
  registry = testRegistry({ bitgetBaseUrl: server.url, bybitBaseUrl: server.url, shared });
});
afterAll(async () => {
  await registry?.close();
  await server?.close();
  await database?.close();
});

describe.each([
  { dialect: 'Bitget', firstInToken: 5, withOtherLeverage: 4, longAgo: 3, filledAtOnce: 5 },
  { dialect: 'Bitget unified', firstInToken: 5, withOtherLeverage: 5, longAgo: 4, filledAtOnce: 6 },
  { dialect: 'Bybit', firstInToken: 5, withOtherLeverage: 5, longAgo: 4, filledAtOnce: 5 },
] as const)('the requests of an order at $dialect', ({ dialect, ...most }) => {
  const alike = testInTurn(SUITE_DIALECTS, dialect);
  let exchange: Exchange;
  let account: ExchangeAccount;
  let { calls, context } = recording();

  beforeEach(async () => {
    venue.setFaults([]);
    exchange = registry.get(platformOf(dialect));
    const userId = randomUUID();
    if (dialect === 'Bitget unified') unified.add(userId);
    const credentials = { ...venueCredentials(userId, SECRET_KEY), accountMode: accountModeOf(dialect) };
    account = { userId, environment: 'paper', credentials };
    await exchange.prepareAccount(account, { token: 'ETH', leverage: 10 });
    ({ calls, context } = recording());
  });

  const types = () => calls.map(({ type }) => type);
  const read = (leverage: number | null = 10) =>
    exchange.readTradeAccount(account, { token: 'BTC', leverage }, context);
  const prepare = (leverage = 10) =>
    exchange.prepareAccount(account, { token: 'BTC', leverage }, { onCall: (call) => calls.push(call) });
  const age = (minutes: number) =>
    database.database.pool.query(
      'update exchange_preparations set prepared_at = now() - make_interval(mins => $1) where user_id = $2',
      [minutes, account.userId],
    );

  /** From the reading to the order; the calls before it are forgotten. */
  async function order(leverage = 10) {
    calls.length = 0;
    const { balance, position } = await read(leverage);
    expect([balance.futuresBalance, position]).toEqual([expect.stringMatching(/^\d/), null]);
    const asked = [...calls];
    calls.length = 0;
    await prepare(leverage);
    // Requests that the reading made ahead are shown with the order, not sent again.
    expect(calls).toEqual(asked);
    const entry = buy({ leverage });
    expect(await exchange.placeOrder(account, entry, context)).toMatchObject({ outcome: 'placed' });
    return entry;
  }

  async function close() {
    const whole = { token: 'BTC', side: 'long' as const, quantity: '0.01', clientOrderId: newId() };
    expect(await exchange.closePosition(account, whole, context)).toMatchObject({ outcome: 'placed' });
  }

  test('the first one in a token sets leverage and margin mode and reads them back', async () => {
    await order(5);
    expect(calls).toHaveLength(most.firstInToken);
    expect(types().at(-1)).toBe('place-order');
    expect(types()).toContain('set-leverage');
    expect(await exchange.fetchPosition(account, 'BTC')).toMatchObject({ leverage: 5, margin: '130' });
  });

  alike('the first one remembers all settings with one statement', async () => {
    await database.database.pool.query('delete from exchange_preparations');
    expect(await countStatements(() => order(5), 'insert into exchange_preparations')).toBe(1);
  });

  test(`a prepared one takes three, and ${most.filledAtOnce} in all if it fills at once`, async () => {
    await order();
    await close();
    const entry = await order();
    expect(calls).toHaveLength(3);
    await exchange.findOrder(account, entry, context);
    const protection = { stopLoss: '63000', takeProfit: '69000.1' };
    expect(await exchange.fetchHolding(account, 'BTC', context)).toMatchObject({ protection });
    expect(calls).toHaveLength(most.filledAtOnce);
  });

  alike('another leverage is set and read back', async () => {
    await order();
    await close();
    await order(5);
    expect(calls).toHaveLength(most.withOtherLeverage);
    expect(await exchange.fetchPosition(account, 'BTC')).toMatchObject({ leverage: 5 });
  });

  alike('settings made more than fifteen minutes ago are read again before they are relied on', async () => {
    await order();
    await close();
    await age(16);
    await order();
    expect(calls).toHaveLength(most.longAgo);
    await close();
    await order();
    expect(calls).toHaveLength(3);
  });

  alike(
    'settings made long ago are relied on again once a reading without a leverage has shown them',
    async () => {
      await order();
      await close();
      await age(16);
      await read(null);
      calls.length = 0;
      await prepare();
      expect(types()).toEqual([]);
      await age(16);
      await prepare();
      expect(types()).not.toEqual([]);
    },
  );

  alike('nothing is set while a position is open, nor without a leverage', async () => {
    await read(null);
    expect(types().filter((type) => type.startsWith('set-'))).toEqual([]);
    await order();
    calls.length = 0;
    expect(await read(5)).toMatchObject({ position: { token: 'BTC', leverage: 10 } });
    expect(types().filter((type) => type.startsWith('set-'))).toEqual([]);
  });

  alike.each(['leverageRefused', 'leverageIgnored'] as const)(
    'a leverage that cannot be set is left for the preparation to report: %s',
    async (kind) => {
      venue.setFaults([{ kind, on: { times: Number.POSITIVE_INFINITY } }]);
      expect(await read(5)).toMatchObject({ balance: { futuresBalance: '10000' }, position: null });
      await expect(prepare(5)).rejects.toMatchObject({ kind: 'refused' });
    },
  );

  alike('fails if position, balance or settings cannot be read', async () => {
    await order();
    await close();
    for (const operation of ['positions', 'balance', 'account-state'] as const) {
      venue.setFaults([{ kind: 'html200', on: { operation, times: Number.POSITIVE_INFINITY } }]);
      await age(16);
      await expect(read()).rejects.toMatchObject({ name: 'ExchangeError', kind: 'unknown' });
    }
  });
});
