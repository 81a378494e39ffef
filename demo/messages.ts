import type { Candle } from './market.ts';
import type { DemoToken } from './tokens.ts';

/** One delivery as the charting platform sends it. */
export interface Message {
  route: 'trading_view_signal' | 'trading_view_candler';
  contentType: 'application/json' | 'text/plain';
  body: string;
}

export interface Signal {
  token: DemoToken;
  timeframe: number;
  action: 'buy' | 'sell';
  /** As sent. */
  price: string;
}

/** Values in units of the price need more decimals than the price, or the ATR of a cheap token would be 0. */
const PRICE_LIKE = /^(ATR|EMA|SMA|BB|MACD|Momentum)/;

/** A chart's alert with all figures as text, like quoted placeholders. */
export function candleMessage({ token, timeframe, bar, indicators }: Candle, time: Date): Message {
  const places = (name: string) => (PRICE_LIKE.test(name) ? token.priceDecimals + 3 : 3);
  const payload = {
    Timeframe: String(timeframe),
    Symbol: `${token.token}USDT`,
    Currency: 'USDT',
    DateTime: time.toISOString().slice(0, 16).replaceAll(/\D/g, ''),
    Open: priceText(token, bar.open),
    High: priceText(token, bar.high),
    Low: priceText(token, bar.low),
    Close: priceText(token, bar.close),
    Volume: bar.volume.toFixed(3),
    processor: token.processor,
    ...Object.fromEntries(
      Object.entries(indicators).map(([name, value]) => [name, value.toFixed(places(name))]),
    ),
  };
  return { route: 'trading_view_candler', contentType: 'application/json', body: JSON.stringify(payload) };
}

/** A strategy's alert. One processor sends its JSON as plain text, which is just as common. */
export function signalMessage({ token, timeframe, action, price }: Signal, time: Date): Message {
  const payload = {
    symbol: `BITGET:${token.token}USDT.P`,
    action,
    price,
    timeframe: String(timeframe),
    processor: token.processor,
    time: time.toISOString(),
    strategy: 'EMA 3/8 crossing',
  };
  const contentType = token.processor === 'UD Bot' ? 'text/plain' : 'application/json';
  return { route: 'trading_view_signal', contentType, body: JSON.stringify(payload) };
}

export const priceText = (token: DemoToken, price: number): string => price.toFixed(token.priceDecimals);
