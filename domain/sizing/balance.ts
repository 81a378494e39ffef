import { D, isDecimal, largest, toPlain } from '../decimal.ts';
import {
  BALANCE_MAX_AGE_SECONDS,
  FALLBACK_ACCOUNT_BALANCE,
  FALLBACK_AVAILABLE_RATIO,
} from './trading-constants.ts';

/** The balance in USDT for an estimate when no real balance is known. Never for an order. */
export function estimateBalance(): string {
  return toPlain(D(FALLBACK_ACCOUNT_BALANCE).times(FALLBACK_AVAILABLE_RATIO));
}

/** Available balance minus the margin of orders that the exchange does not know yet, in USDT, never below zero. */
export function availableForSizing(account: {
  available: string;
  unreportedMargins: readonly string[];
}): string {
  const rest = account.unreportedMargins.reduce((left, margin) => left.minus(margin), D(account.available));
  return toPlain(largest(0, rest));
}

/** Whether an earlier balance may still be used when the calculator's balance call fails. */
export function isBalanceFresh({ readAt, now }: { readAt: Date; now: Date }): boolean {
  return now.getTime() - readAt.getTime() <= BALANCE_MAX_AGE_SECONDS * 1000;
}

/** Whether a balance can be used for sizing: a decimal number that is not negative. */
export function isUsableBalance(balance: string): boolean {
  return isDecimal(balance) && D(balance).gte(0);
}
