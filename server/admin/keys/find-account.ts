import type { ExchangePlatform } from '#domain/user-settings.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { AccountGuard, Deps, UserAccount } from '#server/deps.ts';
import type { KeyRefused } from '#server/exchanges/ccxt/connection.ts';
import { isVerified, listCredentials, updateCredentials } from './exchange-credentials.store.ts';
import { inspectStored, rejectKey } from './key-findings.ts';
import {
  createCredentialsReader,
  openCredentials,
  readCredentials,
  type StoredCredentials,
} from './seal-credentials.ts';

type OpenCredentials = Extract<StoredCredentials, { state: 'open' }>;

type FinderDeps = Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'jobs' | 'log' | 'secretBox'>;

/** Why stored credentials are not used, judging by the database; null: they are used. */
export function denyStored(
  { config }: Pick<Deps, 'config'>,
  stored: StoredCredentials,
  exchange: string,
  viewer: Viewer = { isAdmin: false },
): Denial | null {
  if (stored.state === 'none') return deny('exchange_not_connected', { exchange });
  if (stored.state === 'locked') return deny('exchange_key_unreadable', { exchange });
  const { exchangeMode, rejectedAt, rejectedReason, accountUsedBy } = stored.row;
  const mode = config.exchangeMode;
  if (exchangeMode !== null && exchangeMode !== mode && mode !== 'paper') {
    return deny('exchange_key_other_mode', { exchange, entered: exchangeMode, mode });
  }
  if (rejectedAt !== null) {
    const reason = rejectedReason ?? 'no reason was given';
    return deny('exchange_key_rejected', { exchange, since: rejectedAt.toISOString(), reason });
  }
  if (accountUsedBy === null || mode === 'paper') return null;
  return deny('exchange_account_duplicate', { exchange, usedBy: nameFor(viewer, accountUsedBy) });
}

export type Viewer = { isAdmin: boolean };

/** Only administrators see the names of other users. */
export const nameFor = ({ isAdmin }: Viewer, username: string) => (isAdmin ? username : 'another user');

/** No order is placed with a key until the exchange has been asked about it. */
const denyUnverified = (stored: StoredCredentials, exchange: string): Denial | null =>
  stored.state !== 'open' || isVerified(stored.row)
    ? null
    : deny('exchange_key_not_inspected', { exchange, message: 'it is asked when a signal comes' });

/** Outside paper mode: the user's account, opened with the stored credentials; null without usable credentials. */
export function createAccountFinder(
  deps: Pick<Deps, 'config' | 'db' | 'exchanges' | 'log' | 'secretBox'>,
): Deps['findAccount'] {
  const read = createCredentialsReader(deps);
  return async (userId, platform, { evenRejected } = { evenRejected: false }) => {
    const stored = await read({ userId, platform });
    if (stored.state === 'locked') {
      deps.log.error(
        { userId, exchangePlatform: platform },
        'exchange credentials do not open: SECRET_KEY has changed or the row was moved; the user counts as not connected',
      );
    }
    if (stored.state !== 'open') return null;
    const denial = denyStored(deps, stored, platform);
    // Open positions are still watched and closed, even if the account belongs to another user.
    const isOpened = denial === null || denial.code === 'exchange_account_duplicate';
    if (!isOpened && !(evenRejected && denial.code === 'exchange_key_rejected')) return null;
    return accountOf(deps, { userId, platform, stored, denial });
  };
}

/** A key that was not inspected yet is taken for one of a supported kind of account. */
export function accountOf(
  deps: Pick<Deps, 'config' | 'exchanges'>,
  owned: {
    userId: string;
    platform: ExchangePlatform;
    stored: OpenCredentials;
    denial?: Denial | null;
  },
): UserAccount {
  const { userId, platform, stored, denial = null } = owned;
  const { row, credentials } = stored;
  const { exchanges, config } = deps;
  const exchange = exchanges.supported.includes(platform) ? exchanges.get(platform) : null;
  const isKnown =
    row.inspectedAt !== null || (exchange?.accountModes.includes(credentials.accountMode) ?? true);
  return {
    userId,
    environment: config.exchangeMode,
    credentials:
      isKnown || exchange === null ? credentials : { ...credentials, accountMode: exchange.accountMode },
    accountId: row.accountId,
    denial: denial ?? denyUnverified(stored, platform),
  };
}

export function createAccountGuard(deps: FinderDeps & Pick<Deps, 'exchanges'>): AccountGuard {
  const read = createCredentialsReader(deps);
  return {
    async deny(userId, platform) {
      const owner = { userId, platform };
      const stored = await read(owner);
      const denial = denyStored(deps, stored, platform);
      if (denial !== null || stored.state !== 'open' || isVerified(stored.row)) return denial;
      if (!deps.exchanges.supported.includes(platform)) return null;
      const account = accountOf(deps, { userId, platform, stored });
      const exchange = deps.exchanges.get(platform);
      const problem = await inspectStored(deps, { row: stored.row, account, exchange });
      if (problem !== null) return problem;
      const known = await read(owner);
      return denyStored(deps, known, platform) ?? denyUnverified(known, platform);
    },

    async readDenials() {
      const rows = await listCredentials(deps.db);
      const denials = new Map(
        rows.map((row) => {
          const stored = openCredentials(deps.secretBox, row);
          const { userId, exchangePlatform: exchange } = row;
          const denial = denyStored(deps, stored, exchange) ?? denyUnverified(stored, exchange);
          return [`${userId} ${exchange}`, denial];
        }),
      );
      return (userId, exchange) => {
        const denial = denials.get(`${userId} ${exchange}`);
        return denial === undefined ? deny('exchange_not_connected', { exchange }) : denial;
      };
    },
  };
}

/**
 * Marks stored credentials as rejected when the exchange refuses them in any call. Asks about the key again when the
 * account is of another kind than it was: nothing is ordered until that is known.
 */
export function createKeyWatch(
  deps: FinderDeps & {
    /** They report to the watch, so they are there after it. */
    exchanges: () => Deps['exchanges'];
  },
): KeyRefused {
  const asking = new Set<string>();

  async function askAgain(platform: ExchangePlatform, stored: OpenCredentials): Promise<void> {
    const { row, credentials } = stored;
    const { userId } = row;
    const name = `${userId} ${platform}`;
    if (asking.has(name)) return;
    asking.add(name);
    try {
      await updateCredentials(deps.db, row, { inspectedAt: null });
      const exchanges = deps.exchanges();
      const account = { userId, environment: deps.config.exchangeMode, credentials };
      const asked = { row: { ...row, inspectedAt: null }, account, exchange: exchanges.get(platform) };
      await inspectStored({ ...deps, exchanges }, asked);
    } finally {
      asking.delete(name);
    }
  }

  return async ({ platform, account, message, isOtherKind }) => {
    const { userId } = account;
    try {
      const stored = await readCredentials(deps, { userId, platform });
      if (stored.state !== 'open' || !isSameKey(stored.credentials, account.credentials)) return;
      if (isOtherKind) {
        const isKnown = stored.credentials.accountMode !== account.credentials.accountMode;
        if (!isKnown && stored.row.rejectedAt === null) await askAgain(platform, stored);
        return;
      }
      await rejectKey(deps, stored.row, `${platform} refused it: ${messageOf(message, platform)}`);
    } catch (error) {
      // The next call is refused again and retries this.
      deps.log.error({ err: error, userId, exchangePlatform: platform }, 'could not mark a key as rejected');
    }
  };
}

/** The exchange's message without the exchange name in front. */
export const messageOf = (message: string, platform: ExchangePlatform) =>
  message.startsWith(`${platform}: `) ? message.slice(platform.length + 2) : message;

type Key = Pick<UserAccount['credentials'], 'apiKey' | 'apiSecret' | 'passphrase'>;

const isSameKey = (a: Key, b: Key) =>
  a.apiKey === b.apiKey && a.apiSecret === b.apiSecret && (a.passphrase ?? '') === (b.passphrase ?? '');
