import type { ConnectionTest } from '#contract/exchange-credentials.ts';
import { deny } from '#domain/denials.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import { type ExchangeAccount, ExchangeError } from '#server/exchanges/exchange.ts';
import { AppError } from '#server/platform/errors.ts';
import type { CredentialsOwner } from './exchange-credentials.store.ts';
import { readCredentials } from './seal-credentials.ts';

type TestDeps = Pick<Deps, 'config' | 'db' | 'exchanges' | 'findAccount' | 'secretBox'>;

/** Asks the exchange for the futures balance: the same call that sizes a position, with the same rights. */
export async function testConnection(
  deps: Pick<Deps, 'config' | 'exchanges'>,
  { platform, account }: { platform: ExchangePlatform; account: ExchangeAccount },
): Promise<ConnectionTest> {
  const mode = deps.config.exchangeMode;
  if (!deps.exchanges.supported.includes(platform)) {
    const message = deny('exchange_unsupported', { exchange: platform, mode }).reason;
    return { success: false, exchangePlatform: platform, error: 'refused', message };
  }
  try {
    const balance = await deps.exchanges.get(platform).fetchBalance(account);
    return {
      success: true,
      exchangePlatform: platform,
      message:
        mode === 'paper'
          ? 'Paper mode needs no credentials: this is the balance of the paper account'
          : `${platform} accepted the API key`,
      futuresBalance: balance.futuresBalance,
      futuresAvailable: balance.futuresAvailable,
    };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    return { success: false, exchangePlatform: platform, ...failureOf(error, platform) };
  }
}

/** The same for what is stored; in paper mode, for the paper account that everybody has. */
export async function testStoredConnection(
  deps: TestDeps,
  { userId, platform }: CredentialsOwner,
): Promise<ConnectionTest> {
  const environment = deps.config.exchangeMode;
  if (environment === 'paper') {
    const account = await deps.findAccount(userId, platform);
    if (account === null) throw new AppError('credentialsNotFound');
    return testConnection(deps, { platform, account });
  }
  const stored = await readCredentials(deps, { userId, platform });
  if (stored.state === 'none') throw new AppError('credentialsNotFound');
  if (stored.state === 'locked') {
    const message = `The stored ${platform} credentials cannot be opened any more: enter them again`;
    return { success: false, exchangePlatform: platform, error: 'credentials', message };
  }
  const { credentials } = stored;
  return testConnection(deps, { platform, account: { userId, environment, credentials } });
}

function failureOf(error: ExchangeError, platform: ExchangePlatform) {
  const prefix = `${platform}: `;
  const said = error.message.startsWith(prefix) ? error.message.slice(prefix.length) : error.message;
  switch (error.kind) {
    case 'credentials':
      return { error: 'credentials' as const, message: `${platform} refused the API key: ${said}` };
    case 'refused':
      return { error: 'refused' as const, message: `${platform} refused the request: ${said}` };
    case 'retry-later':
    case 'unknown':
      return { error: 'unreachable' as const, message: `${platform} could not be reached: ${said}` };
  }
}
