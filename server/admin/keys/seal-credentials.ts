import { z } from 'zod';
import { batched } from '#server/exchanges/batched.ts';
import type { ExchangeCredentials } from '#server/exchanges/exchange.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { type SealOptions, type SecretBox, SecretBoxError } from '#server/platform/secret-box.ts';
import {
  type CredentialsOwner,
  findCredentials,
  findCredentialsOf,
  type StoredRow,
} from './exchange-credentials.store.ts';

const SHOWN_CHARACTERS = 4;
/** For shorter keys the last four characters would reveal too much. */
const SHORTEST_HINTED_KEY = 12;
const HIDDEN = '••••';

/** The sealed part; the account mode is not secret and has its own column. */
export type Secrets = Omit<ExchangeCredentials, 'accountMode'>;

const sealedSecrets = z.object({
  apiKey: z.string(),
  apiSecret: z.string(),
  passphrase: z.string().exactOptional(),
});

/** `locked`: stored but cannot be opened: SECRET_KEY has changed, or the row was altered or moved. */
export type StoredCredentials =
  | { state: 'none' }
  | { state: 'locked'; row: StoredRow }
  | { state: 'open'; row: StoredRow; credentials: ExchangeCredentials };

/** Bound to user and platform, so the sealed text cannot be opened in another row. */
export function sealSecrets(box: SecretBox, owner: CredentialsOwner, secrets: Secrets): string {
  return box.seal(JSON.stringify(secrets), credentialsPlace(owner));
}

export async function readCredentials(
  deps: { db: Queryable; secretBox: SecretBox },
  owner: CredentialsOwner,
): Promise<StoredCredentials> {
  return openStored(deps, await findCredentials(deps.db, owner));
}

/** The same for many users at once, who share statements. Each is read after it was asked for, never before. */
export function createCredentialsReader(deps: {
  db: Queryable;
  secretBox: SecretBox;
}): (owner: CredentialsOwner) => Promise<StoredCredentials> {
  const find = batched((owners: CredentialsOwner[]) => findCredentialsOf(deps.db, owners));
  return async (owner) => openStored(deps, await find(owner));
}

const openStored = ({ secretBox }: { secretBox: SecretBox }, row: StoredRow | null): StoredCredentials =>
  row === null ? { state: 'none' } : openCredentials(secretBox, row);

export function openCredentials(
  box: SecretBox,
  row: StoredRow,
): Extract<StoredCredentials, { row: StoredRow }> {
  const place = credentialsPlace({ userId: row.userId, platform: row.exchangePlatform });
  try {
    const text = box.open(row.sealed, place);
    const secrets = sealedSecrets.parse(JSON.parse(text));
    return { state: 'open', row, credentials: { ...secrets, accountMode: row.accountMode } };
  } catch (error) {
    if (error instanceof SecretBoxError) return { state: 'locked', row };
    throw error;
  }
}

export function hintOf(apiKey: string): string {
  return apiKey.length < SHORTEST_HINTED_KEY ? HIDDEN : apiKey.slice(-SHOWN_CHARACTERS);
}

export const credentialsPlace = (owner: { userId: string; platform: string }): SealOptions => ({
  purpose: 'exchange-credentials',
  binding: `${owner.userId}:${owner.platform}`,
});
