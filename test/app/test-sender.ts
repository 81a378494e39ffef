import type { Webhook } from '#contract/hooks.ts';
import type { App } from '#server/platform/http/http-app.ts';
import type { Answer, TestClient } from './test-client.ts';

export type DeliveryPath = 'trading_view_signal' | 'trading_view_candler';

export const SIGNAL = {
  symbol: 'BTCUSDT',
  action: 'buy',
  price: '65000',
  timeframe: '15',
  processor: 'Tesla',
};

export const CANDLE = {
  Timeframe: '15',
  Symbol: 'BTCUSDT',
  Currency: 'USDT',
  DateTime: '202601020300',
  High: '65100.5',
  Low: '64900',
  Open: '64950',
  Close: '65000',
  Volume: '1234.5',
  RSI: '55.1',
  MACD: '-12.3',
};

/** Fields that a test changes; undefined removes a field. */
type Fields = Record<string, unknown>;

export interface SendOptions {
  /** The query string including its question mark; the webhook's key by default. */
  query?: string;
  headers?: Record<string, string>;
  remoteAddress?: string;
}

/** A charting platform with one user's webhook. */
export interface TestSender {
  hook: Webhook;
  signal(fields?: Fields, options?: SendOptions): Promise<Answer>;
  candle(fields?: Fields, options?: SendOptions): Promise<Answer>;
  /** Sends the body unchanged. */
  send(path: DeliveryPath, body: string | Buffer, options?: SendOptions): Promise<Answer>;
}

/** Creates the user's webhook and sends to it. */
export async function createSender({ app, client }: { app: App; client: TestClient }): Promise<TestSender> {
  const answer = await client.post('/api/hooks', {});
  if (answer.statusCode !== 201) throw new Error(`No webhook was created: ${answer.body}`);
  const hook = answer.json<Webhook>();
  const send: TestSender['send'] = (path, payload, options = {}) =>
    app.inject({
      method: 'POST',
      url: `/hooks/${path}${options.query ?? `?hkid=${hook.hookKey}`}`,
      headers: { 'content-type': 'application/json; charset=utf-8', ...options.headers },
      ...(options.remoteAddress === undefined ? {} : { remoteAddress: options.remoteAddress }),
      payload,
    });
  return {
    hook,
    send,
    signal: (fields, options) =>
      send('trading_view_signal', JSON.stringify({ ...SIGNAL, ...fields }), options),
    candle: (fields, options) =>
      send('trading_view_candler', JSON.stringify({ ...CANDLE, ...fields }), options),
  };
}
