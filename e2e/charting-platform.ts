type Fields = Record<string, unknown>;

/** Posts to one webhook from outside the browser, as TradingView does. */
export interface ChartingPlatform {
  candle(fields: Fields): Promise<Response>;
  signal(fields: Fields): Promise<Response>;
}

let sent = 0;

/**
 * Sends candles as JSON and signals as plain text; alerts use both. Every signal has a unique time, so none counts as
 * a duplicate.
 */
export function chartingPlatform(urls: { signalUrl: string; priceUrl: string }): ChartingPlatform {
  return {
    candle: (fields) =>
      post(urls.priceUrl, 'application/json; charset=utf-8', { ...candleOf(new Date()), ...fields }),
    signal: (fields) => {
      sent += 1;
      const time = new Date().toISOString();
      const defaults = { action: 'buy', price: '65000', timeframe: '15', processor: 'Tesla' };
      return post(urls.signalUrl, 'text/plain; charset=utf-8', { ...defaults, time, alert: sent, ...fields });
    },
  };
}

export const webhookUrls = (origin: string, hookKey: string) => ({
  signalUrl: `${origin}/hooks/trading_view_signal?hkid=${hookKey}`,
  priceUrl: `${origin}/hooks/trading_view_candler?hkid=${hookKey}`,
});

const candleOf = (time: Date) => ({
  Timeframe: '15',
  Currency: 'USDT',
  DateTime: time.toISOString().slice(0, 16).replaceAll(/\D/g, ''),
  Open: '64900',
  High: '65120',
  Low: '64820',
  Close: '65000',
  Volume: '182.4',
  ATR: '300',
  immediate_trend: 'bullish',
  mature_trend: 'bullish',
});

const post = (url: string, contentType: string, fields: Fields) =>
  fetch(url, { method: 'POST', headers: { 'content-type': contentType }, body: JSON.stringify(fields) });
