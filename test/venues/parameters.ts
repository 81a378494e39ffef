import { D, type Decimal, isPositive, toPlain } from '#domain/decimal.ts';
import { isTokenName } from '#server/exchanges/paper/paper-contracts.ts';
import type { VenueRequest } from './http.ts';

/* Request parameters, shared by all dialects; only the refusals differ. */

export type Parameters = Record<string, string>;

export const isGiven = (parameters: Parameters, name: string) =>
  parameters[name] !== undefined && parameters[name] !== '';

/** `refuse` creates the dialect's refusal of a parameter. */
export function parameterReaders(refuse: (name: string) => Error) {
  function oneOf<T extends string>(parameters: Parameters, name: string, values: readonly T[]): T {
    const found = values.find((value) => value === parameters[name]);
    if (found === undefined) throw refuse(name);
    return found;
  }

  function decimalIn(parameters: Parameters, name: string): Decimal {
    const value = parameters[name];
    if (!isPositive(value)) throw refuse(name);
    return D(value as string);
  }

  return {
    oneOf,
    decimalIn,
    /** The query of a GET or the JSON body of a POST, values as text. */
    parametersOf(request: VenueRequest): Parameters {
      if (request.method === 'GET') return Object.fromEntries(new URLSearchParams(request.query));
      const fields = jsonObject(request.body);
      if (fields === null) throw refuse('body');
      return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
    },
    optionalDecimalIn: (parameters: Parameters, name: string): Decimal | null =>
      isGiven(parameters, name) ? decimalIn(parameters, name) : null,
    /** Milliseconds as text; null if omitted. */
    instantIn(parameters: Parameters, name: string): Date | null {
      if (!isGiven(parameters, name)) return null;
      if (!/^\d{1,14}$/.test(parameters[name] ?? '')) throw refuse(name);
      return new Date(Number(parameters[name]));
    },
    limitIn(parameters: Parameters, usual: number): number {
      const limit = Number(isGiven(parameters, 'limit') ? parameters.limit : usual);
      if (!Number.isInteger(limit) || limit < 1) throw refuse('limit');
      return limit;
    },
  };
}

/** Null if the body is not a JSON object. */
export function jsonObject(body: string): Record<string, unknown> | null {
  try {
    const fields: unknown = JSON.parse(body || '{}');
    const isObject = fields !== null && typeof fields === 'object' && !Array.isArray(fields);
    return isObject ? (fields as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** 'BTCUSDT' is BTC; null for anything that is not a contract name. */
export function tokenOfSymbol(symbol: string): string | null {
  const token = symbol.endsWith('USDT') ? symbol.slice(0, -'USDT'.length) : '';
  return isTokenName(token) ? token : null;
}

/** '0.0001' has 4 places and a last digit of 1: the form in which Bitget publishes a tick. */
export function decimalPlaces(step: string): number {
  return toPlain(D(step)).split('.')[1]?.length ?? 0;
}
