import type { PriceLogsAnswer } from '#contract/price-logs.ts';
import { createMarket, type Market, STEP_MS } from './market.ts';
import { candleMessage, type Message } from './messages.ts';
import type { ProgramClient } from './program-client.ts';
import type { DemoToken } from './tokens.ts';

const DAY_MS = 86_400_000;
/** Days of candles to post by timeframe in minutes: about the range of a chart. */
const DEPTH_DAYS: Record<number, number> = { 5: 1, 15: 3, 60: 7, 240: 14 };
/** The longest depth plus 9 days that the slowest average needs for its first value. */
const HISTORY_DAYS = 23;

export interface LastCandle {
  time: Date;
  price: number;
}

/** The last candle that an earlier run of the demo posted. */
export async function findLast(client: ProgramClient, { token }: DemoToken): Promise<LastCandle | null> {
  const { priceLogs } = await client.get<PriceLogsAnswer>(
    `/api/price-logs?token=${token}&timeframe=5&limit=1`,
  );
  const [log] = priceLogs;
  return log === undefined ? null : { time: new Date(log.candleTimeServer), price: Number(log.price) };
}

/** The token's market up to now, and the candles that the program does not have yet, oldest first. */
export function backfill(options: { token: DemoToken; seed: string; now: Date; last: LastCandle | null }): {
  market: Market;
  messages: Message[];
} {
  const { now, last } = options;
  // A later run must not repeat the prices of the previous one.
  const seed = last === null ? options.seed : `${options.seed}/${last.time.toISOString()}`;
  const begin = new Date((Math.floor(now.getTime() / DAY_MS) - HISTORY_DAYS) * DAY_MS);
  const token = last === null ? options.token : passing({ token: options.token, seed, begin, last });
  const market = createMarket({ token, seed, begin });
  const messages: Message[] = [];
  for (let closeMs = begin.getTime(); closeMs + STEP_MS <= now.getTime(); closeMs += STEP_MS) {
    const { closeTime, candles } = market.step();
    for (const candle of candles) {
      const earliest = now.getTime() - (DEPTH_DAYS[candle.timeframe] ?? 0) * DAY_MS;
      if (closeTime.getTime() > Math.max(earliest, last?.time.getTime() ?? 0)) {
        messages.push(candleMessage(candle, closeTime));
      }
    }
  }
  return { market, messages };
}

/** The token with a start price chosen so that its market reaches the last candle's price at its time. */
function passing(options: { token: DemoToken; seed: string; begin: Date; last: LastCandle }): DemoToken {
  const { token, begin, last } = options;
  const market = createMarket(options);
  let price = token.startPrice;
  for (let closeMs = begin.getTime(); closeMs + STEP_MS <= last.time.getTime(); closeMs += STEP_MS) {
    price = market.step().candles[0].bar.close;
  }
  return { ...token, startPrice: (token.startPrice * last.price) / price };
}
