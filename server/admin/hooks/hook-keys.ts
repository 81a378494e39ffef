import { randomBytes } from 'node:crypto';
import { type SealOptions, type SecretBox, SecretBoxError } from '#server/platform/secret-box.ts';

const PURPOSE = 'webhook-key';
const KEY_BYTES = 32;
const SHOWN_CHARACTERS = 4;

export interface SealedKey {
  key: string;
  keySealed: string;
  keyHash: Buffer;
}

interface HookOwner {
  id: string;
  userId: string;
}

/** Creates a key: sealed, so that its owner can see it again, and hashed, to look up deliveries. */
export function createHookKey(box: SecretBox, hook: HookOwner): SealedKey {
  const key = randomBytes(KEY_BYTES).toString('base64url');
  return {
    key,
    keySealed: box.seal(key, hookKeyPlace(hook)),
    keyHash: hashHookKey(box, key),
  };
}

/** Null if the key cannot be opened: SECRET_KEY has changed, or the row was altered or moved. */
export function openHookKey(box: SecretBox, hook: HookOwner & { keySealed: string }): string | null {
  try {
    return box.open(hook.keySealed, hookKeyPlace(hook));
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}

export function hashHookKey(box: Pick<SecretBox, 'lookupHash'>, key: string): Buffer {
  return box.lookupHash(key, PURPOSE);
}

/** The hashes under which the key may be stored: two while SECRET_KEY is rotated. */
export function hookKeyHashes(box: Pick<SecretBox, 'lookupHashes'>, key: string): Buffer[] {
  return box.lookupHashes(key, PURPOSE);
}

export function maskHookKey(key: string): string {
  return `${key.slice(0, SHOWN_CHARACTERS)}…`;
}

export const hookKeyPlace = (hook: HookOwner): SealOptions => ({
  purpose: PURPOSE,
  binding: `${hook.id}:${hook.userId}`,
});
