import { setTimeout as sleep } from 'node:timers/promises';
import type {
  ConnectionTest,
  ExchangeCredentials,
  ExchangeCredentialsBody,
  SavedExchangeCredentials,
} from '#contract/exchange-credentials.ts';
import type { Deps } from '#server/deps.ts';
import type { Queryable, Tx } from '#server/platform/database/database.ts';
import { AppError } from '#server/platform/errors.ts';
import { randomId } from '#server/platform/ids.ts';
import { assertHeld, LeaseLostError, withLease } from '#server/platform/leases.ts';
import {
  type CredentialsOwner,
  deleteCredentials,
  hasUnsettledTrade,
  writeCredentials,
} from './exchange-credentials.store.ts';
import { hintOf, readCredentials, type Secrets, sealSecrets } from './seal-credentials.ts';
import { testConnection } from './test-connection.ts';

type ChangeDeps = Pick<Deps, 'clock' | 'config' | 'db' | 'exchanges' | 'secretBox'>;

const LEASE_POLL_MS = 100;
const LEASE_PATIENCE_MS = 2_000;

export async function showCredentials(
  deps: Pick<Deps, 'db' | 'secretBox'>,
  owner: CredentialsOwner,
): Promise<ExchangeCredentials> {
  const stored = await readCredentials(deps, owner);
  const row = stored.state === 'none' ? null : stored.row;
  return {
    exchangePlatform: owner.platform,
    connected: stored.state === 'open',
    apiKeyHint: row?.apiKeyHint ?? null,
    updatedAt: row?.updatedAt.toISOString() ?? null,
  };
}

/**
 * Tests the credentials and stores them. A key that the exchange definitely refuses is not stored, so what worked
 * before stays; one that could not be tested is.
 */
export async function saveCredentials(
  deps: ChangeDeps,
  request: { userId: string; body: ExchangeCredentialsBody; onTest: (test: ConnectionTest) => void },
): Promise<SavedExchangeCredentials> {
  const { userId, body, onTest } = request;
  const owner = { userId, platform: body.exchangePlatform };
  const secrets = secretsOf(body);
  // Asked again when it counts; here it spares the exchange a question that leads to nothing.
  await requireReplaceable(deps, deps.db, owner, secrets);
  const test = await testNewSecrets(deps, owner, secrets);
  if (test !== null) onTest(test);
  if (test?.success === false && test.error === 'credentials') {
    throw new AppError('badRequest', { message: test.message });
  }
  await whileNothingIsSized(deps, owner, async (tx) => {
    await requireReplaceable(deps, tx, owner, secrets);
    await writeCredentials(tx, {
      userId,
      exchangePlatform: owner.platform,
      apiKeyHint: hintOf(secrets.apiKey),
      sealed: sealSecrets(deps.secretBox, owner, secrets),
      // The tested call is one of classic accounts: a unified account refuses it, and is not stored.
      accountMode: 'classic',
      updatedAt: deps.clock.now(),
    });
  });
  return { ...(await showCredentials(deps, owner)), test };
}

export async function removeCredentials(
  deps: ChangeDeps,
  owner: CredentialsOwner,
): Promise<ExchangeCredentials> {
  await whileNothingIsSized(deps, owner, async (tx) => {
    if (await hasUnsettledTrade(tx, owner)) throw new AppError('credentialsInUse');
    if (!(await deleteCredentials(tx, owner))) throw new AppError('credentialsNotFound');
  });
  return showCredentials(deps, owner);
}

function secretsOf({ exchangePlatform, apiKey, apiSecret, passphrase }: ExchangeCredentialsBody): Secrets {
  if (exchangePlatform === 'Bybit' || passphrase === undefined) return { apiKey, apiSecret };
  return { apiKey, apiSecret, passphrase };
}

async function testNewSecrets(
  deps: ChangeDeps,
  { userId, platform }: CredentialsOwner,
  secrets: Secrets,
): Promise<ConnectionTest | null> {
  const environment = deps.config.exchangeMode;
  if (environment === 'paper') return null;
  const credentials = { ...secrets, accountMode: 'classic' as const };
  return testConnection(deps, { platform, account: { userId, environment, credentials } });
}

/** Another secret of the same key reaches the same account; credentials that do not open help no order to its end. */
async function requireReplaceable(
  deps: ChangeDeps,
  db: Queryable,
  owner: CredentialsOwner,
  secrets: Secrets,
): Promise<void> {
  const stored = await readCredentials({ db, secretBox: deps.secretBox }, owner);
  if (stored.state !== 'open' || stored.credentials.apiKey === secrets.apiKey) return;
  if (await hasUnsettledTrade(db, owner)) throw new AppError('credentialsInUse');
}

/**
 * Under the user's lease, which sizing holds until its order is written: a position sized by one account's balance
 * is never ordered on another.
 */
async function whileNothingIsSized(
  deps: ChangeDeps,
  { userId }: CredentialsOwner,
  change: (tx: Tx) => Promise<void>,
): Promise<void> {
  const holder = `${deps.config.instanceId} credentials ${randomId()}`;
  const deadline = Date.now() + LEASE_PATIENCE_MS;
  for (;;) {
    const leased = await withLease({ db: deps.db, key: `user:${userId}`, holder }, (lease) =>
      deps.db.transaction(async (tx) => {
        await assertHeld(tx, lease);
        await change(tx);
      }),
    ).catch((error: unknown) => {
      throw error instanceof LeaseLostError ? new AppError('credentialsInUse', { cause: error }) : error;
    });
    if (leased.held) return;
    if (Date.now() >= deadline) throw new AppError('credentialsInUse');
    await sleep(LEASE_POLL_MS);
  }
}
