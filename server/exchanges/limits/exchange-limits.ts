import { type RateLimits, retryAfterMs, TOO_MANY_REQUESTS } from './rate-limits.ts';

/* Request limits of Bitget and Bybit, and how they report that one was exceeded. */

/** Bitget codes that mean 'too many requests' with any status. */
const TOO_OFTEN = new Set(['429', '1001', '50009', '25004']);

/**
 * Bitget v2. Its documentation states a limit per UID for each endpoint (the client library's cost table agrees: 20 a
 * second divided by the cost), and each endpoint is counted separately. All requests from one address: 6,000 a minute
 * (FAQ, question 10), with five minutes to recover after that; the budget here is 4,800. No refusal names the limit
 * that was hit: the documentation knows only 429 ('the request is too frequent'), and the header
 * `x-mbx-used-remain-limit` counts one endpoint. So a refusal counts against the account's endpoint, and the limiter
 * infers the address limit from refusals of several accounts.
 */
export const BITGET_LIMITS: RateLimits = {
  egressPerSecond: 80,
  userPerSecond: 10,
  publicPerSecond: 20,
  endpoints: {
    'mix/account/set-leverage': 5,
    'mix/account/set-margin-mode': 5,
    'mix/account/set-position-mode': 5,
    'mix/position/all-position': 5,
    'mix/position/single-position': 10,
    'mix/position/history-position': 20,
    // Copy-trade traders have one a second instead of these ten; refusals will show it.
    'mix/order/place-order': 10,
    'mix/order/cancel-order': 10,
    'mix/order/place-tpsl-order': 10,
    'mix/order/detail': 10,
    'mix/order/orders-pending': 10,
    'mix/order/orders-plan-pending': 10,
    'mix/account/account': 10,
    'mix/account/accounts': 10,
    'mix/account/bill': 10,
    // v3, for unified accounts (copies of its documentation of 2025 and 2026). The address is one for both.
    'v3/account/info': 5,
    'v3/account/settings': 20,
    'v3/account/assets': 20,
    'v3/account/financial-records': 20,
    'v3/account/set-leverage': 10,
    'v3/account/set-hold-mode': 10,
    'v3/position/current-position': 20,
    'v3/position/history-position': 20,
    'v3/trade/place-order': 10,
    'v3/trade/cancel-order': 10,
    'v3/trade/order-info': 20,
    'v3/trade/unfilled-orders': 20,
    'v3/trade/history-orders': 20,
    'v3/trade/place-strategy-order': 10,
    'v3/trade/modify-strategy-order': 10,
    'v3/trade/cancel-strategy-order': 10,
    'v3/trade/unfilled-strategy-orders': 20,
    'v3/trade/history-strategy-orders': 20,
  },
  refusalOf(answer, now) {
    const code = codeIn(answer.body, /"code":\s*"?(\d+)"?/);
    const isRefused = TOO_MANY_REQUESTS.has(answer.status) || TOO_OFTEN.has(code);
    return isRefused ? { of: 'account', waitMs: retryAfterMs(answer, now) } : null;
  },
  usageOf({ headers }) {
    const left = countIn(headers['x-mbx-used-remain-limit']);
    return left === null ? null : { perSecond: null, left, resetMs: ONE_SECOND_MS };
  },
};

/** Both exchanges count a user's endpoint in a rolling second. */
const ONE_SECOND_MS = 1_000;

const ACCOUNT_LIMIT_CODE = '10006';
/** 'Exceeded the IP rate limit'; withdrawn from the documentation, still in the library's table. */
const ADDRESS_LIMIT_CODE = '10018';
/** A 403 that mentions no limit may come from a firewall, a blocked country or one malformed request. */
const REFUSED: ReadonlySet<number> = new Set([...TOO_MANY_REQUESTS, 403]);
const RESET_HEADER = 'x-bapi-limit-reset-timestamp';
/** A one-second limit resets within a second; a wrong clock must not turn that into an hour. */
const MAX_RESET_MS = 5_000;
/** Bybit lifts the ban of an address after ten minutes without requests. */
const BANNED_MS = 600_000;

/**
 * Bybit v5. 600 requests within 5 s from one address (rate limit rules); beyond that it answers 403 'access too
 * frequent' for ten minutes. The budget here is 500. Per UID and endpoint of linear contracts (July 2026): 10 a second
 * for orders, stops and leverage, 5 for the margin mode, 50 for reading. Only that 403 and code 10018 name the address.
 * 10006 is 'per UID', HTTP 429 'system level frequency protection' names no address, and 10010 is an address that a key
 * does not list.
 */
export const BYBIT_LIMITS: RateLimits = {
  egressPerSecond: 100,
  userPerSecond: 10,
  // No separate limit is documented.
  publicPerSecond: 50,
  endpoints: {
    'v5/order/create': 10,
    'v5/order/cancel': 10,
    'v5/order/realtime': 50,
    'v5/order/history': 50,
    'v5/execution/list': 50,
    'v5/position/list': 50,
    'v5/position/closed-pnl': 50,
    'v5/position/trading-stop': 10,
    'v5/position/set-leverage': 10,
    'v5/position/switch-mode': 10,
    'v5/account/wallet-balance': 50,
    'v5/account/info': 50,
    // 50 in older copies of the documentation.
    'v5/account/transaction-log': 30,
    'v5/account/set-margin-mode': 5,
    'v5/user/query-api': 10,
  },
  refusalOf(answer, now) {
    const waitMs = retryAfterMs(answer, now);
    const code = codeIn(answer.body, /"retCode":\s*(\d+)/);
    if (answer.status === 403 && isBan(answer.body)) return { of: 'address', waitMs: waitMs ?? BANNED_MS };
    if (code === ADDRESS_LIMIT_CODE) return { of: 'address', waitMs };
    if (REFUSED.has(answer.status) || code === ACCOUNT_LIMIT_CODE) {
      return { of: 'account', waitMs: waitMs ?? untilReset(answer.headers[RESET_HEADER], now) };
    }
    return null;
  },
  usageOf({ headers }, now) {
    const left = countIn(headers['x-bapi-limit-status']);
    if (left === null) return null;
    // Unless the limit was exceeded, the reset is the present time.
    const resetMs = untilReset(headers[RESET_HEADER], now) ?? ONE_SECOND_MS;
    return { perSecond: countIn(headers['x-bapi-limit']), left, resetMs };
  },
};

const countIn = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) : null;

/** A refusal is short; a longer body is a regular answer. */
const MAX_REFUSAL = 2_000;

const isBan = (body: string): boolean =>
  body.length <= MAX_REFUSAL && /too frequent|IP rate limit/i.test(body);

const codeIn = (body: string, pattern: RegExp): string =>
  body.length > MAX_REFUSAL ? '' : (pattern.exec(body)?.[1] ?? '');

function untilReset(text: string | undefined, now: Date): number | null {
  const waitMs = Number(text) - now.getTime();
  return Number.isFinite(waitMs) && waitMs > 0 ? Math.min(waitMs, MAX_RESET_MS) : null;
}
