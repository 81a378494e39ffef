import type { Candle, Crossing } from './market.ts';
import type { DemoToken } from './tokens.ts';

/** One delivery as the charting platform sends it. */
export interface Message {
  route: '/hooks/trading_view_signal' | '/hooks/trading_view_candler';
  contentType: 'application/json; charset=utf-8' | 'text/plain; charset=utf-8';
  body: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
/** What is measured in units of the price. */
const PRICE_LIKE = /^(ATR|EMA|SMA|BB|VWAP|MACD|Momentum|Highest|Lowest)/;

/** A price alert of a chart: all figures as text, the way placeholders in quotes arrive. */
export function candleMessage({ token, timeframeMinutes, bar, indicators }: Candle, time: Date): Message {
  const payload = {
    Timeframe: String(timeframeMinutes),
    Symbol: `${token.token}USDT`,
    Currency: 'USDT',
    DateTime: candleTime(time),
    Open: priceText(token, bar.open),
    High: priceText(token, bar.high),
    Low: priceText(token, bar.low),
    Close: priceText(token, bar.close),
    Volume: plainNumber(bar.volume, 3),
    processor: token.processor,
    ...Object.fromEntries(
      Object.entries(indicators).map(([name, value]) => [
        name,
        // Averages need more places than the price: a small token's range would become 0.
        PRICE_LIKE.test(name) ? plainNumber(value, token.priceDecimals + 3) : plainNumber(value, 3),
      ]),
    ),
  };
  return {
    route: '/hooks/trading_view_candler',
    contentType: JSON_TYPE,
    body: JSON.stringify(payload),
  };
}

/** A strategy's alert. One of the two sources sends its JSON as plain text, which is just as common. */
export function signalMessage({ token, timeframeMinutes, action, price }: Crossing, time: Date): Message {
  const payload = {
    symbol: `BITGET:${token.token}USDT.P`,
    action,
    price: priceText(token, price),
    timeframe: String(timeframeMinutes),
    processor: token.processor,
    time: time.toISOString(),
    strategy: 'EMA 3/8 crossing',
  };
  return {
    route: '/hooks/trading_view_signal',
    contentType: token.processor === 'UD Bot' ? TEXT_TYPE : JSON_TYPE,
    body: JSON.stringify(payload),
  };
}

/** What arrives when the alert names a placeholder that the chart does not know. */
export function unfilledMessage(token: DemoToken, time: Date): Message {
  const payload = {
    symbol: `BITGET:${token.token}USDT.P`,
    action: 'buy',
    price: '{{close_price}}',
    timeframe: '15',
    processor: token.processor,
    time: time.toISOString(),
  };
  return { route: '/hooks/trading_view_signal', contentType: TEXT_TYPE, body: JSON.stringify(payload) };
}

/** yyyymmddhhmm in UTC. */
export function candleTime(time: Date): string {
  return time.toISOString().slice(0, 16).replaceAll(/[^\d]/g, '');
}

export function priceText(token: DemoToken, price: number): string {
  return price.toFixed(token.priceDecimals);
}

/** Never with an exponent: 1.2e-7 is not what a chart sends. */
const plainNumber = (value: number, decimals: number) => value.toFixed(decimals);
