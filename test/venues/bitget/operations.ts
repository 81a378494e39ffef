import type { VenueRequest } from '../http.ts';
import type { VenueOperation } from '../operations.ts';
import { jsonObject } from '../parameters.ts';

const OF_ROUTE: Record<string, readonly VenueOperation[]> = {
  'GET /api/v2/public/time': ['time'],
  'GET /api/v2/mix/market/contracts': ['contracts'],
  'GET /api/v2/mix/market/ticker': ['ticker'],
  'GET /api/v2/mix/market/tickers': ['ticker'],
  'GET /api/v2/mix/account/accounts': ['balance'],
  'GET /api/v2/mix/account/account': ['account-state', 'balance'],
  'GET /api/v2/spot/account/assets': ['spot-balance'],
  'GET /api/v2/spot/account/info': ['inspect-key'],
  'POST /api/v2/mix/account/set-position-mode': ['set-position-mode'],
  'POST /api/v2/mix/account/set-margin-mode': ['set-margin-mode'],
  'POST /api/v2/mix/account/set-leverage': ['set-leverage'],
  'POST /api/v2/mix/order/cancel-order': ['cancel-order'],
  'GET /api/v2/mix/order/detail': ['find-order'],
  'GET /api/v2/mix/order/orders-pending': ['open-orders'],
  'GET /api/v2/mix/order/fills': ['fills'],
  'GET /api/v2/mix/position/all-position': ['positions'],
  // One read covers both: the position shows its stop and target.
  'GET /api/v2/mix/position/single-position': ['positions', 'protection'],
  'POST /api/v2/mix/order/place-tpsl-order': ['place-protection'],
  'GET /api/v2/mix/order/orders-plan-pending': ['protection'],
  'POST /api/v2/mix/order/cancel-plan-order': ['cancel-protection'],
  'GET /api/v2/mix/order/orders-history': ['history'],
  'GET /api/v2/mix/position/history-position': ['history'],
  'GET /api/v2/mix/account/bill': ['ledger'],
};

export function bitgetOperations({ method, path, body }: VenueRequest): readonly VenueOperation[] {
  const route = `${method} ${path}`;
  if (route !== 'POST /api/v2/mix/order/place-order') return OF_ROUTE[route] ?? [];
  return jsonObject(body)?.reduceOnly === 'YES' ? ['close-position'] : ['place-order'];
}
