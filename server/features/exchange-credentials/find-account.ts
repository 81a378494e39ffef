import { type Denial, deny } from '#domain/denials.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { AccountGuard, Deps, UserAccount } from '#server/deps.ts';
import type { KeyRefused } from '#server/exchanges/ccxt-connection.ts';
import { listCredentials } from './exchange-credentials.store.ts';
import { inspectStored, rejectKey } from './key-findings.ts';
import { openCredentials, readCredentials, type StoredCredentials } from './seal-credentials.ts';

type FinderDeps = Pick<Deps, 'clock' | 'config' | 'db' | 'jobs' | 'log' | 'secretBox'>;

/** Why stored credentials are not used, from what is stored of them; null: they are. */
export function denyStored(
  { config }: Pick<Deps, 'config'>,
  stored: StoredCredentials,
  exchange: string,
): Denial | null {
  if (stored.state === 'none') return deny('exchange_not_connected', { exchange });
  if (stored.state === 'locked') return deny('exchange_key_unreadable', { exchange });
  const { exchangeMode, rejectedAt, rejectedReason } = stored.row;
  const mode = config.exchangeMode;
  if (exchangeMode !== null && exchangeMode !== mode && mode !== 'paper') {
    return deny('exchange_key_other_mode', { exchange, entered: exchangeMode, mode });
  }
  if (rejectedAt === null) return null;
  const reason = rejectedReason ?? 'no reason was given';
  return deny('exchange_key_rejected', { exchange, since: rejectedAt.toISOString(), reason });
}

/** Outside paper mode: the user's account as the stored credentials open it; null without usable ones. */
export function createAccountFinder(
  deps: Pick<Deps, 'config' | 'db' | 'exchanges' | 'log' | 'secretBox'>,
): Deps['findAccount'] {
  return async (userId, platform, { evenRejected } = { evenRejected: false }) => {
    const stored = await readCredentials(deps, { userId, platform });
    if (stored.state === 'locked') {
      deps.log.error(
        { userId, exchangePlatform: platform },
        'exchange credentials do not open: SECRET_KEY is another one or the row was moved; the user counts as not connected',
      );
    }
    if (stored.state !== 'open') return null;
    const denial = denyStored(deps, stored, platform);
    if (denial !== null && !(evenRejected && denial.code === 'exchange_key_rejected')) return null;
    return accountOf(deps, { userId, platform, stored, denial });
  };
}

/** Of a key that was not asked about yet it is taken that the account is of the kind that is traded. */
export function accountOf(
  deps: Pick<Deps, 'config' | 'exchanges'>,
  owned: {
    userId: string;
    platform: ExchangePlatform;
    stored: Extract<StoredCredentials, { state: 'open' }>;
    denial?: Denial | null;
  },
): UserAccount {
  const { userId, platform, stored, denial = null } = owned;
  const { row, credentials } = stored;
  const { exchanges, config } = deps;
  const isKnown = row.inspectedAt !== null || !exchanges.supported.includes(platform);
  const message = 'it was not asked about its key yet';
  return {
    userId,
    environment: config.exchangeMode,
    credentials: isKnown ? credentials : { ...credentials, accountMode: exchanges.get(platform).accountMode },
    accountId: row.accountId,
    denial:
      denial ??
      (row.inspectedAt === null ? deny('exchange_key_not_inspected', { exchange: platform, message }) : null),
  };
}

export function createAccountGuard(deps: FinderDeps & Pick<Deps, 'exchanges'>): AccountGuard {
  return {
    async deny(userId, platform) {
      const stored = await readCredentials(deps, { userId, platform });
      const denial = denyStored(deps, stored, platform);
      if (denial !== null || stored.state !== 'open' || stored.row.inspectedAt !== null) return denial;
      if (!deps.exchanges.supported.includes(platform)) return null;
      const account = accountOf(deps, { userId, platform, stored });
      return inspectStored(deps, { row: stored.row, account, exchange: deps.exchanges.get(platform) });
    },

    async readDenials() {
      const rows = await listCredentials(deps.db);
      const denials = new Map(
        rows.map((row) => {
          const stored = openCredentials(deps.secretBox, row);
          return [`${row.userId} ${row.exchangePlatform}`, denyStored(deps, stored, row.exchangePlatform)];
        }),
      );
      return (userId, exchange) => {
        const denial = denials.get(`${userId} ${exchange}`);
        return denial === undefined ? deny('exchange_not_connected', { exchange }) : denial;
      };
    },
  };
}

/** Marks stored credentials that an exchange refuses, whatever they were used for. */
export function createKeyWatch(deps: FinderDeps): KeyRefused {
  return async ({ platform, account, message }) => {
    const { userId } = account;
    try {
      const stored = await readCredentials(deps, { userId, platform });
      if (stored.state !== 'open' || !isSameKey(stored.credentials, account.credentials)) return;
      await rejectKey(deps, stored.row, refusalOf(message, platform));
    } catch (error) {
      // The refusal is met again with the next call.
      deps.log.error(
        { err: error, userId, exchangePlatform: platform },
        'a rejected key could not be marked',
      );
    }
  };
}

const refusalOf = (message: string, platform: ExchangePlatform) => {
  const said = message.startsWith(`${platform}: `) ? message.slice(platform.length + 2) : message;
  return `${platform} refused it: ${said}`;
};

type Key = Pick<UserAccount['credentials'], 'apiKey' | 'apiSecret' | 'passphrase'>;

const isSameKey = (a: Key, b: Key) =>
  a.apiKey === b.apiKey && a.apiSecret === b.apiSecret && (a.passphrase ?? '') === (b.passphrase ?? '');
