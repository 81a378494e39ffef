import { and, desc, eq, gte, lte, sql } from 'drizzle-orm';
import { nextCandleClose, timeframeMinutes } from '#domain/timeframe.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { listTradingSettings } from '#server/admin/settings/settings.store.ts';
import type { EngineDeps } from '#server/deps.ts';
import { timeframeTexts } from '#server/engine/sizing/match-price-log.ts';
import { asExchangeError, ExchangeError } from '#server/exchanges/exchange.ts';
import { priceLogs, signals } from '#server/platform/db/schema.ts';
import { acquireLeases } from '#server/platform/jobs/leases.ts';
import { type AccountReading, storeReadings } from './account-readings.store.ts';
import { selectUsers } from './select-users.ts';

/*
 * Most signals come when a candle closes. Shortly before, the accounts of those who would trade them are read, so that an
 * order does not wait for the requests that its size depends on.
 * 1. A reading is used for fifteen seconds (`account-reading.ts`): the last moments before the close are the best.
 * 2. Reading has the lowest priority and half of what the address may send. The accounts left over are read with the signal.
 * 3. Nothing is set at the exchange, and nothing depends on a reading that failed.
 */

/**
 * Before the close. Signals come some seconds after it, and a reading must still be young then; the requests end before
 * it, so that they take nothing from the orders.
 */
const FROM_MS = 7_000;
const UNTIL_MS = 4_000;
const SHARE_OF_ADDRESS = 0.5;
const REQUESTS_OF_READING = 2;
const LOOK_EVERY_MS = 1_000;

/** Which series bring signals changes slowly. */
const SERIES_LAST_MS = 30_000;
const SIGNALS_SINCE_MS = 7 * 24 * 60 * 60_000;
const MOST_SIGNALS = 500;
/** A series whose last candles are missing has probably ended. */
const MOST_MISSING_CANDLES = 3;

/** Candles that bring signals for the same users. */
type Series = Pick<
  typeof signals.$inferSelect,
  'token' | 'timeframe' | 'processor' | 'fromAdmin' | 'ownerUserId'
> & { candleTime: Date; minutes: number };

interface Target {
  userId: string;
  platform: ExchangePlatform;
  token: string;
}

/** `run` reads what is due now; safe to call at any time, by all instances. */
export function createReadAhead(deps: EngineDeps): { run(): Promise<void> } {
  const { db, clock, config, exchanges, log } = deps;
  let known: { series: Series[]; atMs: number } | null = null;

  async function listSeries(now: Date): Promise<Series[]> {
    if (known !== null && now.getTime() - known.atMs < SERIES_LAST_MS) return known.series;
    const series = await readSeries(deps, now);
    known = { series, atMs: now.getTime() };
    return series;
  }

  /** The series whose candle closes in some seconds, and which no instance has read for this close. */
  async function takeDue(now: Date): Promise<Series[]> {
    const due = (await listSeries(now)).flatMap((one) => {
      const close = nextCandleClose({ ...one, now });
      const restMs = close.getTime() - now.getTime();
      if (restMs > FROM_MS || restMs < UNTIL_MS) return [];
      const { token, timeframe, processor, fromAdmin, ownerUserId } = one;
      const whose = fromAdmin ? 'all' : ownerUserId;
      return [{ one, key: `read-ahead:${token} ${timeframe} ${processor} ${whose} ${close.toISOString()}` }];
    });
    // Never released: it outlasts the time in which the close is due.
    const holder = config.instanceId;
    const taken = await acquireLeases({ db, keys: due.map(({ key }) => key), holder });
    const keys = new Set(taken.map(({ key }) => key));
    return due.flatMap(({ one, key }) => (keys.has(key) ? [one] : []));
  }

  /** In the order of trading. */
  async function listTargets(series: Series): Promise<Target[]> {
    const userIds = (await selectUsers(deps, series)).eligible.map(({ id }) => id);
    const settings = await listTradingSettings(db, userIds);
    return userIds.flatMap((userId) => {
      const platform = exchanges.supported.find((one) => one === settings.get(userId)?.exchangePlatform);
      return platform === undefined ? [] : [{ userId, platform, token: series.token }];
    });
  }

  /** As many as the address can read in time, of each exchange. */
  function withinLimits(targets: readonly Target[]): Target[] {
    const different = new Map(targets.map((one) => [`${one.userId} ${one.platform} ${one.token}`, one]));
    return [...Map.groupBy(different.values(), ({ platform }) => platform)].flatMap(([platform, of]) => {
      const requests = exchanges.get(platform).requestsPerSecond * SHARE_OF_ADDRESS * (FROM_MS - UNTIL_MS);
      return of.slice(0, Math.floor(requests / 1_000 / REQUESTS_OF_READING));
    });
  }

  /** Null if the account cannot be read, or holds a position in the token: that is read when a signal comes. */
  async function read({ userId, platform, token }: Target): Promise<AccountReading | null> {
    const account = await deps.findAccount(userId, platform);
    if (account === null || account.denial != null) return null;
    const readAt = clock.now();
    const request = { token, leverage: null };
    const context = { priority: 'background' } as const;
    const found = await exchanges
      .get(platform)
      .readTradeAccount(account, request, context)
      .catch(asExchangeError);
    if (found instanceof ExchangeError || found.position !== null) return null;
    const { accountId = null } = account;
    const { futuresAvailable } = found.balance;
    return { userId, exchangePlatform: platform, token, accountId, futuresAvailable, readAt };
  }

  /** What did not fail. */
  async function settled<Result>(works: readonly Promise<Result>[], failure: string): Promise<Result[]> {
    return (await Promise.allSettled(works)).flatMap((end) => {
      if (end.status === 'fulfilled') return [end.value];
      log.warn({ err: end.reason }, failure);
      return [];
    });
  }

  return {
    async run() {
      const due = await takeDue(clock.now());
      if (due.length === 0) return;
      const lists = await settled(due.map(listTargets), 'the users of a series could not be read ahead');
      const targets = withinLimits(lists.flat());
      const found = await settled(targets.map(read), 'an account could not be read ahead');
      const readings = found.flatMap((reading) => reading ?? []);
      await storeReadings(db, readings);
      log.debug({ targets: targets.length, readings: readings.length }, 'accounts were read ahead');
    },
  };
}

/** The series of recent signals whose candles are delivered, with the time of the newest candle. */
async function readSeries({ db }: Pick<EngineDeps, 'db'>, now: Date): Promise<Series[]> {
  const { token, timeframe, processor, fromAdmin, ownerUserId, receivedAt } = signals;
  const recent = db
    .select({ token, timeframe, processor, fromAdmin, ownerUserId })
    .from(signals)
    .where(gte(receivedAt, new Date(now.getTime() - SIGNALS_SINCE_MS)))
    .orderBy(desc(receivedAt))
    .limit(MOST_SIGNALS)
    .as('recent');
  const found = await db.selectDistinct().from(recent);
  const withCandles = await Promise.all(
    found.map(async (one) => {
      const minutes = timeframeMinutes(one.timeframe);
      if (minutes === null) return [];
      const candleTime = await findLastCandle(db, { ...one, minutes, now });
      return candleTime === null ? [] : [{ ...one, minutes, candleTime }];
    }),
  );
  return withCandles.flat();
}

async function findLastCandle(
  db: EngineDeps['db'],
  { token, timeframe, minutes, now }: { token: string; timeframe: string; minutes: number; now: Date },
): Promise<Date | null> {
  const { candleTimeServer } = priceLogs;
  const since = new Date(now.getTime() - MOST_MISSING_CANDLES * minutes * 60_000);
  const texts = timeframeTexts(timeframe) ?? [timeframe];
  const [newest] = await db
    .select({ candleTimeServer })
    .from(priceLogs)
    .where(
      and(
        eq(priceLogs.token, token),
        sql`${priceLogs.timeframe} = any(${sql.param(texts)}::text[])`,
        gte(candleTimeServer, since),
        lte(candleTimeServer, now),
      ),
    )
    .orderBy(desc(candleTimeServer))
    .limit(1);
  return newest?.candleTimeServer ?? null;
}

/** Looks every second whether a candle is about to close; returns a function that stops it. */
export function startReadAhead(deps: EngineDeps): () => void {
  const ahead = createReadAhead(deps);
  let isReading = false;
  return deps.clock.every(LOOK_EVERY_MS, async () => {
    if (isReading) return;
    isReading = true;
    await ahead
      .run()
      .catch((error: unknown) => deps.log.warn({ err: error }, 'accounts could not be read ahead'));
    isReading = false;
  });
}
