import { type RateLimits, retryAfterMs, TOO_MANY_REQUESTS } from './rate-limits.ts';

const ACCOUNT_LIMIT_CODE = '10006';
/** 'Exceeded the IP rate limit'; withdrawn from the documentation, still in the library's table. */
const ADDRESS_LIMIT_CODE = '10018';
/** A 403 that speaks of no limit may be of a firewall, of a country or of one malformed request. */
const REFUSED: ReadonlySet<number> = new Set([...TOO_MANY_REQUESTS, 403]);
const RESET_HEADER = 'x-bapi-limit-reset-timestamp';
/** A limit of a second is over in one; a clock that is off must not make it an hour. */
const MAX_RESET_MS = 5_000;
/** An address that was banned is let in again after ten minutes, when it was silent. */
const BANNED_MS = 600_000;

/**
 * Bybit v5. 600 requests within 5 s for an address (rate limit rules), after which it answers 403 'access too frequent'
 * for ten minutes; the budget here is 500. For a UID and endpoint of linear contracts: 10 a second for orders. For
 * reading orders and positions the sources contradict one another (50 or 10 a second): the smaller one is kept to.
 * The address is named by that 403 and by code 10018 only. 10006 is 'per UID', HTTP 429 'system level frequency
 * protection' of no address, 10010 an address that a key does not list.
 */
export const BYBIT_LIMITS: RateLimits = {
  egressPerSecond: 100,
  userPerSecond: 10,
  // No limit of its own is documented.
  publicPerSecond: 50,
  endpoints: {
    'v5/order/create': 10,
    'v5/order/cancel': 10,
    'v5/order/realtime': 10,
    'v5/order/history': 10,
    'v5/position/list': 10,
    'v5/position/trading-stop': 10,
    'v5/position/set-leverage': 10,
    'v5/position/switch-mode': 10,
    'v5/account/set-margin-mode': 10,
    'v5/user/query-api': 10,
  },
  refusalOf(answer, now) {
    const waitMs = retryAfterMs(answer, now);
    const code = codeOf(answer.body);
    if (answer.status === 403 && isBan(answer.body)) return { of: 'address', waitMs: waitMs ?? BANNED_MS };
    if (code === ADDRESS_LIMIT_CODE) return { of: 'address', waitMs };
    if (REFUSED.has(answer.status) || code === ACCOUNT_LIMIT_CODE) {
      return { of: 'account', waitMs: waitMs ?? untilReset(answer.headers[RESET_HEADER], now) };
    }
    return null;
  },
};

/** A refusal is short; what is long is an answer. */
const MAX_REFUSAL = 2_000;

const isBan = (body: string): boolean =>
  body.length <= MAX_REFUSAL && /too frequent|IP rate limit/i.test(body);

const codeOf = (body: string): string =>
  body.length > MAX_REFUSAL ? '' : (/"retCode":\s*(\d+)/.exec(body)?.[1] ?? '');

function untilReset(text: string | undefined, now: Date): number | null {
  const waitMs = Number(text) - now.getTime();
  return Number.isFinite(waitMs) && waitMs > 0 ? Math.min(waitMs, MAX_RESET_MS) : null;
}
