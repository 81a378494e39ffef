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
 * 1. A reading is used for fifteen seconds (`account-reading.ts`): it begins as late as the number of accounts allows, and
 *    ends about a second before the close. Who is traded last is read last.
 * 2. Reading has the lowest priority and half of what the address may send. The accounts that would be too old when their
 *    turn comes are read with the signal.
 * 3. Nothing is set at the exchange, and nothing depends on a reading that failed.
 */

/** Before the close the requests end, so that they take nothing from the orders. */
const END_BEFORE_MS = 1_000;
/** The first account that is read is still young some seconds after the close, when its order leaves. */
const LONGEST_MS = 8_000;
const SHARE_OF_ADDRESS = 0.5;
const REQUESTS_OF_READING = 2;
const LOOK_EVERY_MS = 1_000;
const EARLIEST_MS = LONGEST_MS + END_BEFORE_MS + LOOK_EVERY_MS;

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

/** A series whose candle closes soon, with those who would trade its signal, in the order of trading. */
interface Planned {
  series: Series;
  close: Date;
  targets: Target[];
}

/** `run` reads what is due now; safe to call at any time, by all instances. */
export function createReadAhead(deps: EngineDeps): { run(): Promise<void> } {
  const { db, clock, config, exchanges, log } = deps;
  let known: { series: Series[]; atMs: number } | null = null;
  let planned = new Map<string, Planned>();

  async function listSeries(now: Date): Promise<Series[]> {
    if (known !== null && now.getTime() - known.atMs < SERIES_LAST_MS) return known.series;
    const series = await readSeries(deps, now);
    known = { series, atMs: now.getTime() };
    return series;
  }

  /** The series whose candle closes in some seconds, by their key; who would trade them is looked up once. */
  async function plan(now: Date): Promise<Map<string, Planned>> {
    const soon = (await listSeries(now)).flatMap((series) => {
      const close = nextCandleClose({ ...series, now });
      const restMs = close.getTime() - now.getTime();
      return restMs <= EARLIEST_MS && restMs >= END_BEFORE_MS
        ? [{ series, close, key: keyOf(series, close) }]
        : [];
    });
    const works = soon.map(async ({ series, close, key }): Promise<[string, Planned]> => {
      return [key, planned.get(key) ?? { series, close, targets: await listTargets(series) }];
    });
    return new Map(await settled(works, 'the users of a series could not be read ahead'));
  }

  /** Those that must be read from now on to end in time, and which no instance has read for this close. */
  async function takeDue(now: Date): Promise<Target[]> {
    planned = await plan(now);
    const byClose = Map.groupBy(planned, ([, { close }]) => close.getTime());
    const due = [...byClose].flatMap(([closeMs, of]) => {
      const takesMs = durationOf(withinLimits(of.flatMap(([, { targets }]) => targets)));
      return closeMs - now.getTime() <= takesMs + END_BEFORE_MS + LOOK_EVERY_MS ? of : [];
    });
    // Never released: it outlasts the time in which the close is due.
    const holder = config.instanceId;
    const taken = await acquireLeases({ db, keys: due.map(([key]) => key), holder });
    const keys = new Set(taken.map(({ key }) => key));
    return withinLimits(due.flatMap(([key, { targets }]) => (keys.has(key) ? targets : [])));
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
      return of.slice(0, Math.floor((LONGEST_MS / 1_000) * accountsPerSecond(platform)));
    });
  }

  const accountsPerSecond = (platform: ExchangePlatform) =>
    (exchanges.get(platform).requestsPerSecond * SHARE_OF_ADDRESS) / REQUESTS_OF_READING;

  /** How long reading them takes; the exchanges are read side by side. */
  const durationOf = (targets: readonly Target[]): number =>
    Math.max(
      0,
      ...[...Map.groupBy(targets, ({ platform }) => platform)].map(
        ([platform, of]) => (of.length / accountsPerSecond(platform)) * 1_000,
      ),
    );

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
      const targets = await takeDue(clock.now());
      if (targets.length === 0) return;
      const found = await settled(targets.map(read), 'an account could not be read ahead');
      const readings = found.flatMap((reading) => reading ?? []);
      await storeReadings(db, readings);
      log.debug({ targets: targets.length, readings: readings.length }, 'accounts were read ahead');
    },
  };
}

/** Names a series and the close of its candle, for all instances. */
const keyOf = ({ token, timeframe, processor, fromAdmin, ownerUserId }: Series, close: Date): string =>
  `read-ahead:${token} ${timeframe} ${processor} ${fromAdmin ? 'all' : ownerUserId} ${close.toISOString()}`;

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
