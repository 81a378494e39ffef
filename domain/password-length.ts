import type { ExchangeMode } from './eligibility/trading-mode.ts';

const SHORTEST = 6;
const SHORTEST_OF_ADMINISTRATOR = 12;

/** The password's account; a screen may not know the mode. */
interface Account {
  isAdmin: boolean;
  exchangeMode: ExchangeMode | undefined;
  hasFactor?: boolean;
}

/** Administrators, and everybody while real money is traded, need a longer password or a second factor. */
export function shortestPassword({ isAdmin, exchangeMode, hasFactor = false }: Account): number {
  return !hasFactor && (isAdmin || exchangeMode === 'live') ? SHORTEST_OF_ADMINISTRATOR : SHORTEST;
}

/** Why a new password is too short; null when it is long enough. */
export function passwordLengthFault(password: string, account: Account): string | null {
  const shortest = shortestPassword(account);
  if (password.length >= shortest) return null;
  if (password.length < SHORTEST) return `Password must be at least ${SHORTEST} characters`;
  return account.exchangeMode === 'live'
    ? `Password must be at least ${shortest} characters in live mode`
    : `The password of an administrator must be at least ${shortest} characters`;
}
