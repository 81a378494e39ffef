import type { VenueRequest } from '../http.ts';
import type { VenueOperation } from '../operations.ts';
import { jsonObject } from '../parameters.ts';

const OF_ROUTE: Record<string, readonly VenueOperation[]> = {
  'GET /v5/market/time': ['time'],
  'GET /v5/market/instruments-info': ['contracts'],
  'GET /v5/market/tickers': ['ticker'],
  'GET /v5/account/wallet-balance': ['balance'],
  'GET /v5/account/info': ['account-state'],
  'GET /v5/user/query-api': ['inspect-key'],
  'POST /v5/account/set-margin-mode': ['set-margin-mode'],
  'POST /v5/position/switch-mode': ['set-position-mode'],
  'POST /v5/position/set-leverage': ['set-leverage'],
  // One read covers all three: the position carries its leverage, its stop and its target.
  'GET /v5/position/list': ['positions', 'protection', 'account-state'],
  'POST /v5/order/cancel': ['cancel-order'],
  'GET /v5/execution/list': ['fills'],
  'GET /v5/position/closed-pnl': ['history'],
  'GET /v5/account/transaction-log': ['ledger'],
};

export function bybitOperations({ method, path, query, body }: VenueRequest): readonly VenueOperation[] {
  const route = `${method} ${path}`;
  switch (route) {
    case 'POST /v5/order/create':
      return String(jsonObject(body)?.reduceOnly) === 'true' ? ['close-position'] : ['place-order'];
    case 'POST /v5/position/trading-stop':
      return isTakingBack(jsonObject(body) ?? {}) ? ['cancel-protection'] : ['place-protection'];
    case 'GET /v5/order/realtime': {
      const parameters = new URLSearchParams(query);
      if (parameters.has('orderId') || parameters.has('orderLinkId')) return ['find-order'];
      return parameters.get('orderFilter') === 'StopOrder' ? ['protection'] : ['open-orders'];
    }
    case 'GET /v5/order/history': {
      const parameters = new URLSearchParams(query);
      const isLookUp = parameters.has('orderId') || parameters.has('orderLinkId');
      return isLookUp ? ['find-order', 'history'] : ['history'];
    }
    default:
      return OF_ROUTE[route] ?? [];
  }
}

/** `0` removes a stop or target. */
function isTakingBack({ stopLoss, takeProfit }: Record<string, unknown>): boolean {
  const prices = [stopLoss, takeProfit].filter((price) => price !== undefined && price !== '');
  return prices.length > 0 && prices.every((price) => Number(price) === 0);
}
