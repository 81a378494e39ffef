import { desc } from 'drizzle-orm';
import { isPositive } from '#domain/decimal.ts';
import { isTokenName } from '#server/exchanges/paper/paper-contracts.ts';
import {
  paperAccounts,
  paperFills,
  paperOrders,
  paperPositions,
  paperTriggerOrders,
} from '#server/exchanges/paper/paper-schema.ts';
import type { Db } from '#server/platform/db/database.ts';
import type { VenueFault } from '../faults.ts';
import { jsonAnswer, type VenueAnswer, type VenueRequest } from '../http.ts';

export interface ControlParts {
  prices: { now(): Record<string, string>; set(token: string, price: string): Promise<void> };
  setFaults(faults: VenueFault[]): void;
  db: Db;
  /** A key pair of a new account of this kind at Bitget. */
  newKeys(mode: 'classic' | 'unified'): unknown;
}

const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Controls the served venue: prices, faults and books, under /paper/. */
export function createControl(parts: ControlParts): (request: VenueRequest) => Promise<VenueAnswer> {
  let faults: VenueFault[] = [];
  const routes: Record<string, (body: unknown) => Promise<unknown>> = {
    'GET /paper/prices': async () => parts.prices.now(),
    'POST /paper/prices': async (body) => {
      for (const [token, price] of pricesIn(body)) await parts.prices.set(token, price);
      return parts.prices.now();
    },
    'GET /paper/faults': async () => faults,
    'POST /paper/faults': async (body) => {
      faults = faultsIn(body);
      parts.setFaults(faults);
      return faults;
    },
    'GET /paper/ledger': () => readLedger(parts.db),
    'POST /paper/keys': async (body) => parts.newKeys(accountModeIn(body)),
  };

  return async (request) => {
    const { method, path, headers, body } = request;
    // Web pages must not reach it, whatever host name they use for this address.
    if (headers.origin !== undefined || !LOOPBACK.test(headers.host ?? '')) {
      return refusal(403, 'Only from this machine, and not from a page');
    }
    const route = routes[`${method} ${path}`];
    if (!route) return refusal(404, `There are ${Object.keys(routes).join(', ')}`);
    try {
      return jsonAnswer(200, await route(parsed(body)));
    } catch (error) {
      if (error instanceof ControlError) return refusal(400, error.message);
      throw error;
    }
  };
}

class ControlError extends Error {}

const refusal = (status: number, error: string) => jsonAnswer(status, { error });

function parsed(body: string): unknown {
  try {
    return body === '' ? null : JSON.parse(body);
  } catch {
    throw new ControlError('The body is not JSON');
  }
}

function pricesIn(body: unknown): [string, string][] {
  if (!isObject(body)) throw new ControlError('Prices are an object such as {"BTC": "64000"}');
  return Object.entries(body).map(([token, value]) => {
    const price = String(value);
    if (!isTokenName(token) || !isPositive(price)) {
      throw new ControlError(`${token}: ${price} is no token and its price`);
    }
    return [token, price];
  });
}

function accountModeIn(body: unknown): 'classic' | 'unified' {
  const mode = (isObject(body) ? body.accountMode : undefined) ?? 'classic';
  if (mode === 'classic' || mode === 'unified') return mode;
  throw new ControlError('The accountMode of a key is classic or unified');
}

/** JSON has no Infinity: `"times": null` means always. */
function faultsIn(body: unknown): VenueFault[] {
  if (!Array.isArray(body)) throw new ControlError('Faults are a list such as [{"kind": "html200"}]');
  return body.map((fault: unknown) => {
    if (!isObject(fault) || typeof fault.kind !== 'string') throw new ControlError('A fault has a kind');
    const on = isObject(fault.on) ? fault.on : {};
    const times = on.times === null ? { times: Number.POSITIVE_INFINITY } : {};
    return { ...fault, on: { ...on, ...times } } as unknown as VenueFault;
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const NEWEST = 1_000;

/** The whole books, but only the newest rows of growing lists. */
async function readLedger(db: Db): Promise<unknown> {
  const [accounts, positions, stops, orders, fills] = await Promise.all([
    db.select().from(paperAccounts),
    db.select().from(paperPositions),
    db.select().from(paperTriggerOrders).orderBy(desc(paperTriggerOrders.id)).limit(NEWEST),
    db.select().from(paperOrders).orderBy(desc(paperOrders.id)).limit(NEWEST),
    db.select().from(paperFills).orderBy(desc(paperFills.id)).limit(NEWEST),
  ]);
  return withoutBigints({ accounts, positions, stops, orders, fills });
}

const withoutBigints = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? String(field) : field)),
  );
