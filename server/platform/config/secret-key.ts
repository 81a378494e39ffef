import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../db/start-error.ts';
import { type Config, ConfigError } from './config.ts';

const MIN_LENGTH = 32;
const MIN_DISTINCT = 8;

/** `SECRET_KEY`, or the key of the data folder, generated on the first call. */
export async function loadSecretKey(config: Pick<Config, 'secretKey' | 'dataDir'>): Promise<string> {
  if (config.secretKey !== null) return config.secretKey;
  const path = keyPath(config);
  const key = (await readKey(path)) ?? (await generateKey(path, config.dataDir));
  if (key.length < MIN_LENGTH) {
    throw new ConfigError(`${path} holds ${key.length} characters; it takes at least ${MIN_LENGTH}`);
  }
  return key;
}

/**
 * Refuses a weak key, such as one repeated letter. Called only at the start: a backup must still work with a key that
 * is about to be replaced.
 */
export async function requireStrongKey(config: Pick<Config, 'secretKey' | 'dataDir'>): Promise<void> {
  const key = await findSecretKey(config);
  const distinct = new Set(key).size;
  if (key === null || distinct >= MIN_DISTINCT) return;
  const name = config.secretKey === null ? keyPath(config) : 'SECRET_KEY';
  throw new ConfigError(
    `${name} has ${distinct} distinct ${distinct === 1 ? 'character' : 'characters'}; it takes at least ${MIN_DISTINCT} of them. Where a database was sealed with it, start once with another one and --new-secret-key`,
  );
}

/** The existing key; null where the first start would generate one. */
export async function findSecretKey(config: Pick<Config, 'secretKey' | 'dataDir'>): Promise<string | null> {
  return config.secretKey ?? (await readKey(keyPath(config)));
}

const keyPath = ({ dataDir }: Pick<Config, 'dataDir'>) => join(dataDir, 'secret.key');

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
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
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
