/** Accounts refused within this time count together. */
const WINDOW_MS = 2_000;
const FEWEST_ACCOUNTS = 3;
const FEWEST_SHARE = 0.2;
/** Forgets accounts that asked long ago when there are more than this. */
const MOST_REMEMBERED = 2_000;

/** Of one address: which accounts asked through it lately, and which of them were refused. */
export interface RefusalWatch {
  asked(account: string, atMs: number): void;
  /** Notes the refusal; true when it is the address that is refused, as far as its accounts show. */
  isAddress(account: string, atMs: number): boolean;
}

/**
 * Tells a limit of the address from limits of its accounts where the exchange does not: at least three accounts are
 * refused within two seconds, and they are a fifth of those that asked. It counts accounts, not requests: one account
 * is one, however much it asks. Each instance counts what it sent: a limit of the address refuses all instances, so
 * the busiest of them notices it, and its hold is shared.
 */
export function watchRefusals(): RefusalWatch {
  const asked = new Map<string, number>();
  const refused = new Map<string, number>();

  return {
    asked(account, atMs) {
      asked.set(account, atMs);
      if (asked.size > MOST_REMEMBERED) forgetOld(asked, atMs);
    },
    isAddress(account, atMs) {
      // An answer may come later than the window is long.
      asked.set(account, atMs);
      refused.set(account, atMs);
      forgetOld(asked, atMs);
      forgetOld(refused, atMs);
      const isAddress = refused.size >= FEWEST_ACCOUNTS && refused.size >= FEWEST_SHARE * asked.size;
      if (isAddress) refused.clear();
      return isAddress;
    },
  };
}

function forgetOld(times: Map<string, number>, nowMs: number): void {
  for (const [account, atMs] of times) if (nowMs - atMs > WINDOW_MS) times.delete(account);
}
