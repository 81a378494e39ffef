import type { PriceLogsAnswer } from '#contract/price-logs.ts';
import { BASE_MINUTES, MINUTE_MS, type TimeframeMinutes } from './bars.ts';
import { createMarket, type Market } from './market.ts';
import { candleMessage, type Message } from './messages.ts';
import type { ProgramClient } from './program-client.ts';
import { DEMO_TOKENS, type DemoToken } from './tokens.ts';

const DAY_MS = 86_400_000;
/** How far back candles are posted: about as many of each timeframe as a chart shows. */
const DEPTH_DAYS: Record<TimeframeMinutes, number> = { 5: 1, 15: 3, 60: 7, 240: 14 };
/** The longest average of the longest timeframe needs this long before it knows anything. */
const WARM_UP_DAYS = 9;

export interface Backfill {
  market: Market;
  /** Oldest first. */
  messages: BackfillMessage[];
}

export interface BackfillMessage {
  message: Message;
  closeTime: Date;
  /** Of the last step: must arrive after all others, since the newest arrival is the token's price. */
  isNewest: boolean;
}

/** Every token's market up to now, and the candles of it that the program does not have yet. */
export async function prepareBackfills(options: {
  client: ProgramClient;
  seed: string;
  now: Date;
}): Promise<Backfill[]> {
  const { client, seed, now } = options;
  return Promise.all(
    DEMO_TOKENS.map(async (token) => backfill({ token, seed, now, last: await findLast(client, token) })),
  );
}

interface LastCandle {
  time: Date;
  price: number;
}

/** Where an earlier run of the demo left the token. */
async function findLast(client: ProgramClient, { token }: DemoToken): Promise<LastCandle | null> {
  const query = new URLSearchParams({ token, timeframe: String(BASE_MINUTES), limit: '1' });
  const { priceLogs } = await client.get<PriceLogsAnswer>(`/api/price-logs?${query}`);
  const [log] = priceLogs;
  return log === undefined ? null : { time: new Date(log.candleTimeServer), price: Number(log.price) };
}

/** The same options give the same candles. */
export function backfill(options: {
  token: DemoToken;
  seed: string;
  now: Date;
  last: LastCandle | null;
}): Backfill {
  const { token, seed, now, last } = options;
  const end = Math.floor(now.getTime() / (BASE_MINUTES * MINUTE_MS)) * BASE_MINUTES * MINUTE_MS;
  const longestMs = (DEPTH_DAYS[240] + WARM_UP_DAYS) * DAY_MS;
  const market = createMarket({
    token,
    // A second run must not repeat the days of the first.
    seed: last === null ? seed : `${seed}/${last.time.toISOString()}`,
    begin: new Date(Math.floor((end - longestMs) / DAY_MS) * DAY_MS),
    passesBy: last,
  });
  const messages: BackfillMessage[] = [];
  for (let closeMs = 0; closeMs < end; ) {
    const { closeTime, candles } = market.step();
    closeMs = closeTime.getTime();
    for (const candle of candles) {
      const earliest = end - DEPTH_DAYS[candle.timeframeMinutes] * DAY_MS;
      if (closeMs <= Math.max(earliest, last?.time.getTime() ?? 0)) continue;
      messages.push({ message: candleMessage(candle, closeTime), closeTime, isNewest: closeMs >= end });
    }
  }
  return { market, messages };
}

const CONNECTIONS = 48;

/** Posts what all tokens missed, in the order of time as far as several connections keep it. */
export async function postBackfills(options: {
  backfills: readonly Backfill[];
  post: (message: Message) => Promise<unknown>;
  signal: AbortSignal;
}): Promise<void> {
  const { backfills, post, signal } = options;
  const inOrder = backfills
    .flatMap(({ messages }) => messages)
    .sort((a, b) => a.closeTime.getTime() - b.closeTime.getTime());
  const waiting = inOrder.filter(({ isNewest }) => !isNewest).values();
  const connections = Array.from({ length: CONNECTIONS }, async () => {
    for (const { message } of waiting) {
      if (signal.aborted) return;
      await post(message);
    }
  });
  await Promise.all(connections);
  for (const { message } of inOrder.filter(({ isNewest }) => isNewest)) {
    if (!signal.aborted) await post(message);
  }
}
