import type { Deps } from '#server/deps.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { withLease } from '#server/platform/leases.ts';
import { listAccounts } from './positions.store.ts';
import { createAccountReader, type ReaderDeps } from './read-account.ts';

const WATCH_EVERY_MS = 30_000;

/**
 * Looks from time to time at the accounts in which positions of ours may be open, so that their ends are recorded
 * also while nobody looks at a screen: an exchange forgets its history after some months. One instance does it.
 */
export function startClosingWatch(deps: ReaderDeps & Pick<Deps, 'config'>): () => void {
  const reader = createAccountReader(deps);
  let isWatching = false;
  const timer = setInterval(async () => {
    if (isWatching) return;
    isWatching = true;
    const lease = { db: deps.db, key: 'positions:watch', holder: deps.config.instanceId };
    await withLease(lease, () => watchClosings(deps, reader)).catch((error: unknown) =>
      deps.log.warn({ err: error }, 'closed positions could not be looked for'),
    );
    isWatching = false;
  }, WATCH_EVERY_MS);
  return () => clearInterval(timer);
}

/** One account that cannot be read keeps none of the others from it. */
export async function watchClosings(deps: ReaderDeps, reader = createAccountReader(deps)): Promise<void> {
  const accounts = await listAccounts(deps.db, { onlyWithTrades: true });
  await Promise.all(
    accounts.map((account) =>
      reader.read(account, 0).catch((error: unknown) => {
        if (!(error instanceof ExchangeError)) throw error;
        deps.log.debug({ err: error, userId: account.userId }, 'an account could not be read');
      }),
    ),
  );
}
