import { D, toPlain } from '#domain/decimal.ts';
import { isTokenName } from '#server/exchanges/paper/paper-contracts.ts';

/** 'BTCUSDT' is BTC; null for what no contract could be called. */
export function tokenOfSymbol(symbol: string): string | null {
  const token = symbol.endsWith('USDT') ? symbol.slice(0, -'USDT'.length) : '';
  return isTokenName(token) ? token : null;
}

/** '0.0001' has 4 places and a last digit of 1: the form in which Bitget publishes a tick. */
export function decimalPlaces(step: string): number {
  return toPlain(D(step)).split('.')[1]?.length ?? 0;
}
