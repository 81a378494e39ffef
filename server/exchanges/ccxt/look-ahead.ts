import type { CallRecord, ExchangeAccount } from '../exchange.ts';
import type { AccountState } from './dialect.ts';

/** What was read before counts no longer after this. */
const COUNTS_FOR_MS = 2_000;

type RecordCall = (call: CallRecord) => void;

/** How accounts stand, read before it is asked for: the request is then no part of the way to an order. */
export interface LookAhead {
  begin(account: ExchangeAccount, token: string): void;
  /**
   * What was begun a moment ago, once; its requests are told to whoever takes it. Null where nothing was, or nothing
   * came of it: the account has to be asked then.
   */
  take(account: ExchangeAccount, token: string, onCall?: RecordCall): Promise<AccountState | null>;
}

export function createLookAhead(options: {
  read: (account: ExchangeAccount, token: string, onCall: RecordCall) => Promise<AccountState>;
  now: () => Date;
}): LookAhead {
  const { read, now } = options;
  const begun = new Map<string, { at: number; calls: CallRecord[]; state: Promise<AccountState | null> }>();

  function forgetOld(): void {
    const oldest = now().getTime() - COUNTS_FOR_MS;
    for (const [key, { at }] of begun) {
      if (at >= oldest) return;
      begun.delete(key);
    }
  }

  return {
    begin(account, token) {
      forgetOld();
      const key = keyOf(account, token);
      const calls: CallRecord[] = [];
      const state = read(account, token, (call) => calls.push(call)).catch(() => null);
      // The oldest stand first.
      begun.delete(key);
      begun.set(key, { at: now().getTime(), calls, state });
    },
    async take(account, token, onCall) {
      forgetOld();
      const key = keyOf(account, token);
      const found = begun.get(key);
      if (found === undefined) return null;
      begun.delete(key);
      const state = await found.state;
      for (const call of found.calls) onCall?.(call);
      return state;
    },
  };
}

/** Another key may be of another account. */
const keyOf = ({ userId, credentials }: ExchangeAccount, token: string) =>
  JSON.stringify([userId, credentials.apiKey, token]);
