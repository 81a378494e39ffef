import { bitgetSignature } from '#test/venues/bitget/signature.ts';
import { bybitSignature } from '#test/venues/bybit/signature.ts';
import type { VenueAnswer } from '#test/venues/http.ts';
import type { TestVenue } from '#test/venues/venue.ts';
import { venueCredentials } from '#test/venues/venue-credentials.ts';

/** `code` is the exchange's code; null where the answer has no envelope. */
export interface TraderAnswer {
  ok: boolean;
  code: string | null;
  data: unknown;
  response: VenueAnswer;
}

/** The same few requests in each dialect, signed without the client library, for tests of the venue. */
export interface TestTrader {
  prepare(): Promise<void>;
  /** A long entry of `size` at `price` with a stop at 63000 and a target at 69000. */
  enter(order: { id: string; price?: string; size?: string }): Promise<TraderAnswer>;
  cancel(id: string): Promise<TraderAnswer>;
  find(id: string): Promise<TraderAnswer>;
  close(size?: string): Promise<TraderAnswer>;
  setLeverage(leverage: number): Promise<TraderAnswer>;
  setStop(price: string): Promise<TraderAnswer>;
  balance(): Promise<TraderAnswer>;
  time(): Promise<TraderAnswer>;
}

export interface TraderOptions {
  venue: TestVenue;
  userId: string;
  secretKey: string;
  now: () => Date;
}

type Fields = Record<string, string | number | boolean>;
type Method = 'GET' | 'POST';

export function bitgetTrader({ venue, userId, secretKey, now }: TraderOptions): TestTrader {
  async function send(method: Method, path: string, own: Fields = {}): Promise<TraderAnswer> {
    const fields = { productType: 'USDT-FUTURES', symbol: 'BTCUSDT', marginCoin: 'USDT', ...own };
    const query = method === 'GET' ? queryOf(fields) : '';
    const body = method === 'POST' ? JSON.stringify(fields) : '';
    const { apiKey, apiSecret, passphrase } = venueCredentials(userId, secretKey);
    const timestamp = String(now().getTime());
    const sign = bitgetSignature(apiSecret, timestamp, { method, path, query, body });
    const headers = {
      'access-key': apiKey,
      'access-timestamp': timestamp,
      'access-passphrase': passphrase,
      'access-sign': sign,
    };
    const response = await venue.handle({ method, path, query, headers, body });
    const { code, data } = objectIn(response.body);
    return { ok: code === '00000', code: code === undefined ? null : String(code), data, response };
  }
  const place = (fields: Fields) =>
    send('POST', '/api/v2/mix/order/place-order', { marginMode: 'isolated', ...fields });
  return {
    async prepare() {
      await send('POST', '/api/v2/mix/account/set-position-mode', { posMode: 'one_way_mode' });
    },
    enter: ({ id, price = '65000', size = '0.01' }) =>
      place({
        side: 'buy',
        orderType: 'limit',
        clientOid: id,
        price,
        size,
        presetStopLossPrice: '63000',
        presetStopSurplusPrice: '69000',
      }),
    cancel: (id) => send('POST', '/api/v2/mix/order/cancel-order', { clientOid: id }),
    find: (id) => send('GET', '/api/v2/mix/order/detail', { clientOid: id }),
    close: (size = '0.01') => place({ side: 'sell', orderType: 'market', size, reduceOnly: 'YES' }),
    setLeverage: (leverage) => send('POST', '/api/v2/mix/account/set-leverage', { leverage }),
    setStop: (triggerPrice) =>
      send('POST', '/api/v2/mix/order/place-tpsl-order', { planType: 'pos_loss', triggerPrice }),
    balance: () => send('GET', '/api/v2/mix/account/accounts'),
    time: () => publicAnswer(venue, '/api/v2/public/time'),
  };
}

export function bybitTrader({ venue, userId, secretKey, now }: TraderOptions): TestTrader {
  async function send(method: Method, path: string, own: Fields = {}): Promise<TraderAnswer> {
    const fields = { category: 'linear', symbol: 'BTCUSDT', ...own };
    const query = method === 'GET' ? queryOf(fields) : '';
    const body = method === 'POST' ? JSON.stringify(fields) : '';
    const { apiKey, apiSecret } = venueCredentials(userId, secretKey);
    const terms = { apiKey, timestamp: String(now().getTime()), window: '5000' };
    const headers = {
      'x-bapi-api-key': apiKey,
      'x-bapi-timestamp': terms.timestamp,
      'x-bapi-recv-window': terms.window,
      'x-bapi-sign': bybitSignature(apiSecret, terms, { method, query, body }),
    };
    const response = await venue.handle({ method, path, query, headers, body });
    const { retCode, result } = objectIn(response.body);
    return {
      ok: retCode === 0,
      code: retCode === undefined ? null : String(retCode),
      data: result,
      response,
    };
  }
  const place = (fields: Fields) => send('POST', '/v5/order/create', { positionIdx: 0, ...fields });
  const byMark = { slTriggerBy: 'MarkPrice', tpTriggerBy: 'MarkPrice', tpslMode: 'Full' };
  return {
    async prepare() {
      await send('POST', '/v5/account/set-margin-mode', { setMarginMode: 'ISOLATED_MARGIN' });
    },
    enter: ({ id, price = '65000', size = '0.01' }) =>
      place({
        side: 'Buy',
        orderType: 'Limit',
        orderLinkId: id,
        price,
        qty: size,
        stopLoss: '63000',
        takeProfit: '69000',
        ...byMark,
      }),
    cancel: (id) => send('POST', '/v5/order/cancel', { orderLinkId: id }),
    async find(id) {
      const answer = await send('GET', '/v5/order/realtime', { orderLinkId: id });
      const { list } = (answer.data ?? {}) as { list?: unknown[] };
      // An unknown order is an empty list without an error code.
      return { ...answer, ok: answer.ok && list?.length === 1 };
    },
    close: (size = '0.01') => place({ side: 'Sell', orderType: 'Market', qty: size, reduceOnly: true }),
    setLeverage: (leverage) =>
      send('POST', '/v5/position/set-leverage', {
        buyLeverage: String(leverage),
        sellLeverage: String(leverage),
      }),
    setStop: (stopLoss) => send('POST', '/v5/position/trading-stop', { positionIdx: 0, stopLoss, ...byMark }),
    balance: () => send('GET', '/v5/account/wallet-balance', { accountType: 'UNIFIED' }),
    time: () => publicAnswer(venue, '/v5/market/time'),
  };
}

async function publicAnswer(venue: TestVenue, path: string): Promise<TraderAnswer> {
  const response = await venue.handle({ method: 'GET', path, query: '', headers: {}, body: '' });
  const { code, retCode, data } = objectIn(response.body);
  return { ok: code === '00000' || retCode === 0, code: String(code ?? retCode), data, response };
}

const queryOf = (fields: Fields) =>
  Object.entries(fields)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

function objectIn(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
