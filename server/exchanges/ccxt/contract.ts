import { toPlain } from '#domain/decimal.ts';
import type { Contract } from '../exchange.ts';
import type { Market } from './dialect.ts';

/** USDT-margined, one coin a contract, and called exactly as the token: a scaled or renamed one is not the token's. */
export function contractOf(market: Market, token: string): Contract | null {
  if (!market?.swap || !market.linear || market.active !== true || market.settle !== 'USDT') return null;
  if (market.id !== `${token}USDT` || market.baseId !== token || market.contractSize !== 1) return null;
  const { precision, limits } = market;
  return {
    token,
    symbol: `${token}USDT`,
    tickSize: numberText(precision.price, 'price step'),
    quantityStep: numberText(precision.amount, 'quantity step'),
    minimumQuantity: numberText(limits.amount?.min ?? precision.amount, 'minimum quantity'),
    minimumNotional: numberText(limits.cost?.min ?? 0, 'minimum notional'),
    maximumLeverage: Number(limits.leverage?.max ?? 1),
  };
}

function numberText(value: number | undefined, name: string): string {
  if (value === undefined || !Number.isFinite(value)) throw new RangeError(`The contract has no ${name}`);
  return toPlain(value);
}
