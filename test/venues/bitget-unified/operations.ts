import type { VenueRequest } from '../http.ts';
import type { VenueOperation } from '../operations.ts';
import { jsonObject } from '../parameters.ts';

const OF_ROUTE: Record<string, readonly VenueOperation[]> = {
  'GET /api/v3/account/info': ['inspect-key'],
  'GET /api/v3/account/settings': ['account-state'],
  'GET /api/v3/account/assets': ['balance'],
  'POST /api/v3/account/set-hold-mode': ['set-position-mode'],
  'POST /api/v3/account/set-leverage': ['set-leverage'],
  'POST /api/v3/trade/cancel-order': ['cancel-order'],
  'GET /api/v3/trade/order-info': ['find-order'],
  'GET /api/v3/trade/unfilled-orders': ['open-orders'],
  'GET /api/v3/trade/history-orders': ['history'],
  'GET /api/v3/position/current-position': ['positions'],
  'GET /api/v3/position/history-position': ['history'],
  'POST /api/v3/trade/place-strategy-order': ['place-protection'],
  'POST /api/v3/trade/modify-strategy-order': ['place-protection'],
  'POST /api/v3/trade/cancel-strategy-order': ['cancel-protection'],
  'GET /api/v3/trade/unfilled-strategy-orders': ['protection'],
  'GET /api/v3/trade/history-strategy-orders': ['history'],
  'GET /api/v3/account/financial-records': ['ledger'],
};

export function unifiedOperations({ method, path, body }: VenueRequest): readonly VenueOperation[] {
  const route = `${method} ${path}`;
  if (route !== 'POST /api/v3/trade/place-order') return OF_ROUTE[route] ?? [];
  return jsonObject(body)?.reduceOnly === 'yes' ? ['close-position'] : ['place-order'];
}
