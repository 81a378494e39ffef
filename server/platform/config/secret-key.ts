import { randomBytes, randomUUID } from 'node:crypto';
import { link, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../db/start-error.ts';
import { makeFolder } from '../make-folder.mjs';
import type { SecretKeys } from '../secret-keys/key-state.ts';
import { type Config, ConfigError } from './config.ts';

const MIN_LENGTH = 32;
const MIN_DISTINCT = 8;

type KeyConfig = Pick<Config, 'secretKey' | 'secretKeyNext' | 'dataDir'>;

/** `SECRET_KEY`, or the key of the data folder, generated on the first call. */
export async function loadSecretKey(config: Pick<Config, 'secretKey' | 'dataDir'>): Promise<string> {
  if (config.secretKey !== null) return config.secretKey;
  const path = keyPath(config);
  const key = (await readKey(path)) ?? (await generateKey(path, config.dataDir));
  if (key.length < MIN_LENGTH) throw new ConfigError(`${path} ${weaknessOf(key)}`);
  return key;
}

/** Both keys; a next key that has become the key already counts as none. */
export async function loadSecretKeys(config: KeyConfig): Promise<SecretKeys> {
  return withNextKey(config, await loadSecretKey(config));
}

/**
 * Refuses weak keys, such as one repeated letter. Called only at the start: a backup must still work with a key that
 * is about to be replaced.
 */
export async function requireStrongKeys(config: KeyConfig): Promise<void> {
  const key = await findSecretKey(config);
  const weakness = key === null ? null : weaknessOf(key);
  if (weakness !== null) {
    const name = config.secretKey === null ? keyPath(config) : 'SECRET_KEY';
    throw new ConfigError(
      `${name} ${weakness}. Where a database was sealed with it, start once with another one and --new-secret-key`,
    );
  }
  const nextWeakness = config.secretKeyNext === null ? null : weaknessOf(config.secretKeyNext);
  if (nextWeakness !== null) throw new ConfigError(`SECRET_KEY_NEXT ${nextWeakness}`);
}

/** What a key lacks, after its name; null for a good one. */
export function weaknessOf(key: string): string | null {
  if (key.length < MIN_LENGTH) return `holds ${key.length} characters; it takes at least ${MIN_LENGTH}`;
  const distinct = new Set(key).size;
  if (distinct >= MIN_DISTINCT) return null;
  return `has ${distinct} distinct ${distinct === 1 ? 'character' : 'characters'}; it takes at least ${MIN_DISTINCT} of them`;
}

/** The existing keys; null where the first start would generate one. */
export async function findSecretKeys(config: KeyConfig): Promise<SecretKeys | null> {
  const secretKey = await findSecretKey(config);
  return secretKey === null ? null : withNextKey(config, secretKey);
}

const withNextKey = ({ secretKeyNext }: KeyConfig, secretKey: string): SecretKeys => ({
  secretKey,
  nextKey: secretKeyNext === secretKey ? null : secretKeyNext,
});

/** The existing key; null where the first start would generate one. */
export async function findSecretKey(config: Pick<Config, 'secretKey' | 'dataDir'>): Promise<string | null> {
  return config.secretKey ?? (await readKey(keyPath(config)));
}

export const keyPath = ({ dataDir }: Pick<Config, 'dataDir'>) => join(dataDir, 'secret.key');

async function readKey(path: string): Promise<string | null> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw new ConfigError(`${path} cannot be read; it holds the key of everything encrypted in the database`);
  }
}

// Writes and syncs the key under another name first, so that a crash never leaves half a key.
async function generateKey(path: string, dataDir: string): Promise<string> {
  await makeFolder(dataDir);
  const draft = `${path}.${randomUUID()}`;
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(draft, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}
