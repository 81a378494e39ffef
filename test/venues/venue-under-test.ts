import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Db } from '#server/platform/db/database.ts';
import { type FakeClock, fakeClock } from '#test/app/fake-clock.ts';
import { createTestDatabase, type TestDatabase } from '#test/app/test-database.ts';
import { bitgetSignature } from './bitget/signature.ts';
import { bybitSignature } from './bybit/signature.ts';
import type { VenueRequest } from './http.ts';
import { type MemoryMarks, memoryMarks } from './memory-marks.ts';
import { createVenue, type TestVenue, type VenueOptions } from './venue.ts';
import { TRADING_KEY, type VenueKey, venueCredentials } from './venue-credentials.ts';

export const SECRET_KEY = 'a secret key that only these tests use';

/** A venue with a BTC price and an unused account: new for each test, on one database. */
export interface VenueUnderTest {
  db: Db;
  clock: FakeClock;
  marks: MemoryMarks;
  venue: TestVenue;
  userId: string;
  /** The venue's answer about every key. */
  key: VenueKey;
  /** Opens another process on the same books. */
  openAgain(options?: Pick<VenueOptions, 'limits'>): TestVenue;
}

export function venueUnderTest(): VenueUnderTest {
  const under = {} as VenueUnderTest;
  let own: TestDatabase;
  under.openAgain = (options = {}) =>
    createVenue({
      ...options,
      db: under.db,
      clock: under.clock,
      marks: under.marks,
      startBalance: '10000',
      credentialsFor: (id) => venueCredentials(id, SECRET_KEY),
      keyOf: () => under.key,
      onError: (error) => {
        throw error;
      },
    });
  beforeAll(async () => {
    own = await createTestDatabase();
    under.db = own.database.db;
  });
  afterAll(() => own?.close());
  beforeEach(() => {
    under.clock = fakeClock();
    under.marks = memoryMarks();
    under.marks.push('BTC', '65000');
    under.key = TRADING_KEY;
    under.venue = under.openAgain();
    under.userId = randomUUID();
  });
  return under;
}

export type Fields = Record<string, string | number | boolean>;

/** A request of the account, signed by hand; `headers` override the defaults. */
export function signedRequest(
  platform: ExchangePlatform,
  { userId, clock }: Pick<VenueUnderTest, 'userId' | 'clock'>,
  request: { method: 'GET' | 'POST'; path: string; fields: Fields; headers?: Record<string, string> },
): VenueRequest {
  const { method, path, fields } = request;
  const texts = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  const query = method === 'GET' ? texts.join('&') : '';
  const body = method === 'POST' ? JSON.stringify(fields) : '';
  const { apiKey, apiSecret, passphrase } = venueCredentials(userId, SECRET_KEY);
  const timestamp = String(clock.now().getTime());
  const terms = { apiKey, timestamp, window: '5000' };
  const signed =
    platform === 'Bitget'
      ? {
          'access-key': apiKey,
          'access-timestamp': timestamp,
          'access-passphrase': passphrase,
          'access-sign': bitgetSignature(apiSecret, timestamp, { method, path, query, body }),
        }
      : {
          'x-bapi-api-key': apiKey,
          'x-bapi-timestamp': timestamp,
          'x-bapi-recv-window': terms.window,
          'x-bapi-sign': bybitSignature(apiSecret, terms, { method, query, body }),
        };
  return { method, path, query, body, headers: { ...signed, ...request.headers } };
}
