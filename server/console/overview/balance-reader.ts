import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import type { AccountKey } from '#server/engine/protection/positions.store.ts';
import { rememberBalance } from '#server/engine/sizing/position-generator.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { createGate } from '#server/exchanges/paper/gate.ts';

/** USDT of a futures account, open profit included. */
export interface KnownEquity {
  equity: string;
  readAt: Date;
}

export interface BalanceReader {
  /** The last known equities of these accounts, in their order. Reads old ones again, and waits only briefly for that. */
  read(accounts: readonly AccountKey[]): Promise<(KnownEquity | null)[]>;
}

const FRESH_MS = 60_000;
/** With more accounts, balances are kept longer: 10 accounts a second stay far within the exchange's limits. */
const MS_AN_ACCOUNT = 100;
const CONCURRENT = 4;
/** The first look of a start waits this long; what arrives later is in the next answer. */
const WAIT_MS = 2_000;

type BalanceDeps = Pick<Deps, 'clock' | 'db' | 'exchanges' | 'findAccount' | 'log'>;

/** Reads balances for screens, seldom enough that an exchange does not notice. */
export function createBalanceReader(deps: BalanceDeps): BalanceReader {
  const known = new Map<string, KnownEquity>();
  const asking = new Map<string, Promise<void>>();
  const askedAt = new Map<string, number>();
  const gate = createGate(CONCURRENT);
  const nameOf = ({ userId, exchangePlatform }: AccountKey) => `${userId} ${exchangePlatform}`;

  async function ask(key: AccountKey): Promise<void> {
    const { userId, exchangePlatform } = key;
    const platform = EXCHANGE_PLATFORMS.find((one) => one === exchangePlatform);
    if (platform === undefined || !deps.exchanges.supported.includes(platform)) return;
    const account = await deps.findAccount(userId, platform);
    if (account === null) {
      known.delete(nameOf(key));
      // A key that is entered now shows at once.
      askedAt.delete(nameOf(key));
      return;
    }
    const readAt = deps.clock.now();
    try {
      const balance = await deps.exchanges.get(platform).fetchBalance(account, { priority: 'look-up' });
      known.set(nameOf(key), { equity: balance.futuresBalance, readAt });
      const { futuresAvailable } = balance;
      await rememberBalance(deps.db, { userId, exchangePlatform, futuresAvailable, readAt });
    } catch (error) {
      // The last known equity stays, with its time.
      const level = error instanceof ExchangeError ? 'debug' : 'warn';
      deps.log[level]({ err: error, userId, exchangePlatform }, 'a balance could not be read');
    }
  }

  /** One question an account at a time, after a failure too not more often than after a success. */
  function refresh(key: AccountKey, maxAgeMs: number): Promise<void> | undefined {
    const name = nameOf(key);
    const nowMs = deps.clock.now().getTime();
    if (!asking.has(name) && nowMs - (askedAt.get(name) ?? Number.NEGATIVE_INFINITY) >= maxAgeMs) {
      askedAt.set(name, nowMs);
      const question = gate(() => ask(key)).finally(() => asking.delete(name));
      asking.set(name, question);
    }
    return asking.get(name);
  }

  return {
    async read(accounts) {
      const maxAgeMs = Math.max(FRESH_MS, accounts.length * MS_AN_ACCOUNT);
      const questions = accounts.map((account) => refresh(account, maxAgeMs));
      const isMissing = accounts.some((account) => !known.has(nameOf(account)));
      if (isMissing) {
        await Promise.race([Promise.allSettled(questions), deps.clock.sleep(WAIT_MS)]);
      }
      return accounts.map((account) => known.get(nameOf(account)) ?? null);
    },
  };
}
