import { type RateLimits, retryAfterMs, TOO_MANY_REQUESTS } from './rate-limits.ts';

/** Codes that say 'too often' with whatever status. */
const TOO_OFTEN = new Set(['429', '1001', '50009']);

/**
 * Bitget v2. Each endpoint names its limit for a UID in its documentation (the client library's table of costs agrees:
 * 20 a second divided by the cost), and each is counted on its own. All requests of an address together: 6,000 a
 * minute (FAQ, question 10), after which it takes five minutes to recover; the budget here is 4,800.
 * No refusal names its limit: the documentation knows only 429 ('the request is too frequent'), and the header
 * `x-mbx-used-remain-limit` counts one endpoint. So a refusal counts against the account's endpoint, and the limiter
 * infers the address's limit from refusals of several accounts.
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
    'mix/position/history-position': 20,
    // Copy-trade traders have one a second in place of these ten, which their refusals will show.
    'mix/order/place-order': 10,
    'mix/order/cancel-order': 10,
    'mix/order/place-tpsl-order': 10,
    'mix/order/detail': 10,
    'mix/order/orders-pending': 10,
    'mix/order/orders-plan-pending': 10,
    'mix/account/account': 10,
    'mix/account/accounts': 10,
  },
  refusalOf(answer, now) {
    const isRefused = TOO_MANY_REQUESTS.has(answer.status) || TOO_OFTEN.has(codeOf(answer.body));
    return isRefused ? { of: 'account', waitMs: retryAfterMs(answer, now) } : null;
  },
};

/** A refusal is short; what is long is an answer. */
const MAX_REFUSAL = 2_000;

const codeOf = (body: string): string =>
  body.length > MAX_REFUSAL ? '' : (/"code":\s*"?(\d+)"?/.exec(body)?.[1] ?? '');
