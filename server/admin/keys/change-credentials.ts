import type {
  ConnectionState,
  ConnectionTest,
  ExchangeCredentials,
  ExchangeCredentialsBody,
  SavedExchangeCredentials,
} from '#contract/exchange-credentials.ts';
import type { Denial, DenialCode } from '#domain/workflow/denials.ts';
import type { Deps } from '#server/deps.ts';
import { listCallingAddresses } from '#server/exchanges/limits/exchange-addresses.ts';
import type { AuditActor, AuditSubject } from '#server/platform/audit/audit-trail.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { randomId } from '#server/platform/ids.ts';
import { assertHeld, LeaseLostError, withLeaseWithin } from '#server/platform/jobs/leases.ts';
import { claimAccount } from './account-claims.ts';
import {
  type CredentialsOwner,
  deleteCredentials,
  hasUnsettledTrade,
  isVerified,
  listTokensHeldInStored,
  wakeUnsettledTrades,
  writeCredentials,
} from './exchange-credentials.store.ts';
import { denyStored, nameFor, type Viewer } from './find-account.ts';
import { findingsOf, type GoodKey, supportedAccountMode } from './key-findings.ts';
import {
  hintOf,
  readCredentials,
  type Secrets,
  type StoredCredentials,
  sealSecrets,
} from './seal-credentials.ts';
import { testConnection } from './test-connection.ts';

type ChangeDeps = Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'exchanges' | 'jobs' | 'secretBox'>;

const LEASE_PATIENCE_MS = 2_000;

export async function showCredentials(
  deps: Pick<Deps, 'config' | 'db' | 'secretBox'>,
  owner: CredentialsOwner,
  viewer: Viewer,
): Promise<ExchangeCredentials> {
  const stored = await readCredentials(deps, owner);
  const row = stored.state === 'none' ? null : stored.row;
  const denial = denyStored(deps, stored, owner.platform, viewer);
  const state = stateOf(deps, stored, denial);
  return {
    exchangePlatform: owner.platform,
    connected: state === 'ready' || state === 'unverified',
    state,
    problem: state === 'none' ? null : (denial?.reason ?? null),
    apiKeyHint: row?.apiKeyHint ?? null,
    updatedAt: row?.updatedAt.toISOString() ?? null,
    accountMode: row === null || row.inspectedAt === null ? null : row.accountMode,
    callingAddresses: await callingAddresses(deps, owner),
  };
}

/** Of the running instances. This one may not have called the exchange yet. */
async function callingAddresses(
  { config, db }: Pick<Deps, 'config' | 'db'>,
  { platform }: CredentialsOwner,
): Promise<string[]> {
  if (config.exchangeMode === 'paper') return [];
  const { exchangeAddress: own, exchangeProxyUrls: proxies } = config;
  const called = await listCallingAddresses(db, platform);
  const all = own === null || proxies.length > 0 ? called : [...called, own];
  return [...new Set(all)].toSorted();
}

const STATES: Partial<Record<DenialCode, ConnectionState>> = {
  exchange_key_rejected: 'rejected',
  exchange_account_duplicate: 'duplicate',
};

function stateOf(
  { config }: Pick<Deps, 'config'>,
  stored: StoredCredentials,
  denial: Denial | null,
): ConnectionState {
  if (stored.state === 'none') return 'none';
  if (stored.state === 'locked') return 'unreadable';
  if (denial !== null) return STATES[denial.code] ?? 'other-mode';
  return !isVerified(stored.row) && config.exchangeMode !== 'paper' ? 'unverified' : 'ready';
}

/**
 * Tests the credentials and stores them. If the exchange refuses the key, or its permissions are too broad or too narrow,
 * the earlier key stays. A key that could not be tested is stored, and inspected before its first order.
 */
export async function saveCredentials(
  deps: ChangeDeps,
  request: {
    userId: string;
    body: ExchangeCredentialsBody;
    viewer: Viewer;
    onTest: (test: ConnectionTest) => void;
    by: By;
  },
): Promise<SavedExchangeCredentials> {
  const { userId, body, viewer, onTest, by } = request;
  const owner = { userId, platform: body.exchangePlatform };
  const secrets = secretsOf(body);
  const environment = deps.config.exchangeMode;
  const accountMode = supportedAccountMode(deps.exchanges, owner.platform);
  const account = { userId, environment, credentials: { ...secrets, accountMode } };
  const { test, key } =
    environment === 'paper'
      ? { test: null, key: null }
      : await testConnection(deps, { platform: owner.platform, account });
  if (test !== null) onTest(test);
  if (test?.success === false && test.error === 'credentials') {
    throw new AppError('badRequest', { message: test.message });
  }
  await whileNothingIsSized(deps, owner, async (tx) => {
    const stored = await readCredentials({ db: tx, secretBox: deps.secretBox }, owner);
    const accountId = await requireSameAccount(deps, tx, { owner, stored, secrets, key });
    const claim = await claimAccount(tx, deps, { ...owner, accountId });
    if (claim.usedBy !== null) {
      throw new AppError('exchangeAccountTaken', {
        message: `This API key belongs to ${owner.platform} account ${accountId}, which is connected for ${nameFor(viewer, claim.usedBy)}. An account serves one user: enter a key of another account (a sub-account is one), or have the other key removed first.`,
      });
    }
    await writeCredentials(tx, {
      userId,
      exchangePlatform: owner.platform,
      apiKeyHint: hintOf(secrets.apiKey),
      sealed: sealSecrets(deps.secretBox, owner, secrets),
      ...findingsOf(deps, owner.platform, key),
      accountId,
      accountSince: claim.since,
      updatedAt: deps.clock.now(),
    });
    await wakeUnsettledTrades(tx, deps, owner);
    const { platform: exchangePlatform } = owner;
    const former = stored.state === 'none' ? null : stored.row;
    await deps.audit.record(tx, {
      ...by,
      action: 'exchange keys stored',
      ...(former === null ? {} : { before: keyValues(former) }),
      after: keyValues({ exchangePlatform, apiKeyHint: hintOf(secrets.apiKey), accountId }),
    });
  });
  return { ...(await showCredentials(deps, owner, viewer)), test };
}

export async function removeCredentials(
  deps: ChangeDeps,
  { owner, viewer, by }: { owner: CredentialsOwner; viewer: Viewer; by: By },
): Promise<ExchangeCredentials> {
  await whileNothingIsSized(deps, owner, async (tx) => {
    if (await hasUnsettledTrade(tx, owner)) throw new AppError('credentialsInUse');
    const removed = required(await deleteCredentials(tx, owner), 'credentialsNotFound');
    await deps.audit.record(tx, { ...by, action: 'exchange keys deleted', before: keyValues(removed) });
  });
  return showCredentials(deps, owner, viewer);
}

/** Who changes the keys, and whose they are. */
interface By {
  actor: AuditActor;
  subject: AuditSubject;
}

const keyValues = ({
  exchangePlatform,
  apiKeyHint,
  accountId,
}: {
  exchangePlatform: string;
  apiKeyHint: string;
  accountId: string | null;
}) => ({ exchangePlatform, apiKeyHint, accountId });

function secretsOf({ exchangePlatform, apiKey, apiSecret, passphrase }: ExchangeCredentialsBody): Secrets {
  if (exchangePlatform === 'Bybit' || passphrase === undefined) return { apiKey, apiSecret };
  return { apiKey, apiSecret, passphrase };
}

/**
 * While an order of the user is unsettled or a position is open, only a key of the same account may replace the stored
 * one: in another account, 'not found' would be read as 'never placed' or 'closed' (docs/decisions/0005). A new secret
 * for the same key reaches the same account. Returns the account id, if known.
 */
async function requireSameAccount(
  deps: ChangeDeps,
  tx: Tx,
  change: { owner: CredentialsOwner; stored: StoredCredentials; secrets: Secrets; key: GoodKey | null },
): Promise<string | null> {
  const { owner, stored, secrets, key } = change;
  const accountId = key?.accountId ?? null;
  const mode = deps.config.exchangeMode;
  if (stored.state === 'none') return accountId;
  if (stored.state === 'open' && stored.credentials.apiKey === secrets.apiKey) {
    const isOfMode = mode === 'paper' || stored.row.exchangeMode === mode;
    return accountId ?? (isOfMode ? stored.row.accountId : null);
  }
  const isSame = accountId !== null && accountId === stored.row.accountId && stored.row.exchangeMode === mode;
  if (isSame) return accountId;
  const { platform } = owner;
  const why = (consequence: string) =>
    accountId === null
      ? `${platform} has not told to which account this API key belongs`
      : `this API key belongs to another account, ${consequence}`;
  const account = stored.row.accountId === null ? 'the same account' : `account ${stored.row.accountId}`;
  const refuse = (message: string) => new AppError('credentialsOfOtherAccount', { message });
  if (await hasUnsettledTrade(tx, owner)) {
    throw refuse(
      `An order of this user on ${platform} is not settled, and ${why('where the order cannot be looked up')}. Enter a key of ${account}, wait until the order is settled, or have an administrator write it off.`,
    );
  }
  // In paper mode the positions are in the paper account, and a key of another mode shows none of this mode's.
  if (mode === 'paper' || (stored.row.exchangeMode ?? mode) !== mode) return accountId;
  const accounts = { mode, stored: stored.row.accountId, next: accountId };
  const held = await listTokensHeldInStored(tx, owner, accounts);
  if (held.length > 0) {
    throw refuse(
      `A position of this user on ${platform} is open (${held.join(', ')}), and ${why('which does not show it')}. Enter a key of ${account}, or close the position first. Who has no such key any more deletes the stored one: the position is not watched from here then, and keeps signals in its token away until an administrator writes it off.`,
    );
  }
  return accountId;
}

/**
 * Runs the change under the user's lease. Sizing holds that lease until its order is written, so a position sized with
 * one account's balance is never ordered on another account.
 */
async function whileNothingIsSized(
  deps: ChangeDeps,
  { userId }: CredentialsOwner,
  change: (tx: Tx) => Promise<void>,
): Promise<void> {
  const holder = `${deps.config.instanceId} credentials ${randomId()}`;
  const leased = await withLeaseWithin(
    { db: deps.db, clock: deps.clock, key: `user:${userId}`, holder, patienceMs: LEASE_PATIENCE_MS },
    (lease) =>
      deps.db.transaction(async (tx) => {
        await assertHeld(tx, lease);
        await change(tx);
      }),
  ).catch((error: unknown) => {
    throw error instanceof LeaseLostError ? new AppError('credentialsInUse', { cause: error }) : error;
  });
  if (!leased.held) throw new AppError('credentialsInUse');
}
