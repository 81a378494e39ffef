/** The two kinds of delivery that charts send. */
export type Kind = 'candle' | 'signal';

const TOKENS = ['BTC', 'ETH', 'SOL', 'TON', 'SUI', 'XRP', 'PEPE', 'DOGE'];

/** No two alike, in size and fields like what charts send; payloads.lua writes the same. */
export function nextPayload(kind: Kind, serial: number): Record<string, string> {
  const token = TOKENS[serial % TOKENS.length] ?? '';
  const price = (100 + (serial % 1000) / 1000).toFixed(3);
  const now = new Date().toISOString();
  if (kind === 'signal') {
    const action = serial % 2 === 0 ? 'buy' : 'sell';
    const symbol = `BITGET:${token}USDT.P`;
    return { symbol, action, price, timeframe: '15', processor: 'Tesla', time: now, serial: String(serial) };
  }
  return candlePayload({ token, price, serial });
}

export function candlePayload(options: {
  token: string;
  price: string;
  serial: number;
}): Record<string, string> {
  return {
    Timeframe: '15',
    Symbol: `${options.token}USDT`,
    Currency: 'USDT',
    DateTime: new Date().toISOString().slice(0, 16).replaceAll(/\D/g, ''),
    Open: '100',
    High: '101.5',
    Low: '99.2',
    Close: options.price,
    Volume: String(options.serial),
    RSI: '55.31',
    MACD: '1.204',
    ATR: '0.83',
    mature_trend: 'bullish',
  };
}

export const signalPayload = (options: { token: string; price: string; serial: number }) => ({
  symbol: `${options.token}USDT`,
  action: 'buy',
  price: options.price,
  timeframe: '15',
  processor: 'Tesla',
  time: new Date().toISOString(),
  serial: String(options.serial),
});
