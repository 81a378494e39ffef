import { D, toPlain } from '#domain/decimal.ts';
import type { Deps } from '#server/deps.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { AppError } from '#server/platform/http/errors.ts';

const TOKEN = 'BTC';
/** Used on paper while no price has arrived. */
const FIRST_PAPER_PRICE = '97098.87';
/** The range of the candle and its ATR, as fractions of the price. */
const HALF_RANGE = '0.0015';
const ATR = '0.0045';

type Payload = Record<string, string>;

/**
 * The token's last price at the exchange, so that the demo signal moves no price and is close enough to be traded. On
 * paper an invented one before the first candle.
 */
export async function readDemoPrice(
  { config, exchanges }: Pick<Deps, 'config' | 'exchanges'>,
  exchangePlatform: string | undefined,
): Promise<string> {
  const platform = exchanges.supported.find((one) => one === exchangePlatform) ?? exchanges.supported[0];
  try {
    const ticker = platform === undefined ? null : await exchanges.get(platform).fetchTicker(TOKEN);
    if (ticker !== null) return ticker.lastPrice;
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    if (config.exchangeMode !== 'paper')
      throw new AppError('unavailable', { message: error.message, cause: error });
  }
  return FIRST_PAPER_PRICE;
}

/** A candle with an ATR and a rising trend, and a buy signal at its close. The time makes each a new delivery. */
export function demoDeliveries({
  processor,
  timeframe,
  price,
  now,
}: {
  processor: string;
  timeframe: string;
  /** In USDT. */
  price: string;
  now: Date;
}): { candle: Payload; signal: Payload & { symbol: string; action: string } } {
  const time = now.toISOString();
  const symbol = `${TOKEN}USDT`;
  const away = (fraction: string) => toPlain(D(price).times(D(1).plus(fraction)).toDecimalPlaces(2));
  return {
    candle: {
      Symbol: symbol,
      Timeframe: timeframe,
      Open: away(`-${HALF_RANGE}`),
      High: away(HALF_RANGE),
      Low: away(`-${HALF_RANGE}`),
      Close: price,
      ATR: toPlain(D(price).times(ATR).toDecimalPlaces(2)),
      immediate_trend: 'bullish',
      mature_trend: 'bullish',
      DateTime: time.slice(0, 16).replaceAll(/\D/g, ''),
      time,
    },
    signal: { symbol, action: 'buy', price, timeframe, processor, time },
  };
}
