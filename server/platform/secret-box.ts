import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A sealed text was altered, belongs to something else, or was sealed under another SECRET_KEY. */
export class SecretBoxError extends Error {
  override readonly name = 'SecretBoxError';
}

/** What is sealed. `server/admin/rotation/sealed-kinds.ts` re-seals each of them under a new SECRET_KEY. */
export type SealPurpose =
  | 'exchange-credentials'
  | 'webhook-key'
  | 'totp'
  | 'audit-chain'
  | 'notification-channel';
/** What is hashed; rotation makes the hashes of webhook keys and decisions anew. */
export type LookupPurpose = 'webhook-key' | 'decision' | 'database' | 'backup';

export interface SealOptions {
  /** The kind of secret; every purpose has its own key. */
  purpose: SealPurpose;
  /** The owner of the secret: sealed text that is moved to another row does not open there. */
  binding: string;
}

export interface SecretBox {
  /** Encrypts and authenticates; the same text never gives the same result twice. */
  seal(plain: string, options: SealOptions): string;
  /** Throws a SecretBoxError for any text that `seal` did not make with these options. */
  open(sealed: string, options: SealOptions): string;
  /** A keyed hash: the same value gives the same hash, and without the key nobody can test a guess. */
  lookupHash(value: string, purpose: LookupPurpose): Buffer;
  /** The hashes under which the value may be stored: one for each known key, always in the same order. */
  lookupHashes(value: string, purpose: LookupPurpose): Buffer[];
}

/** A box that opens what either of two keys sealed, while SECRET_KEY is rotated. */
export interface RotatingBox extends SecretBox {
  /** Whether to seal and hash under the next key from now on. Without a next key it stays with the current one. */
  sealUnderNext(isNext: boolean): void;
  sealsUnderNext(): boolean;
}

/** Keeps secrets at rest with keys derived from SECRET_KEY (HKDF-SHA256, AES-256-GCM, HMAC-SHA256). */
export function createSecretBox(secretKey: string, nextKey: string | null = null): RotatingBox {
  const current = createBoxOfOneKey(secretKey);
  const next = nextKey === null ? null : createBoxOfOneKey(nextKey);
  const boxes = next === null ? [current] : [current, next];
  let sealing = current;
  return {
    seal: (plain, options) => sealing.seal(plain, options),
    open(sealed, options) {
      if (next === null) return current.open(sealed, options);
      try {
        return current.open(sealed, options);
      } catch (error) {
        if (error instanceof SecretBoxError) return next.open(sealed, options);
        throw error;
      }
    },
    lookupHash: (value, purpose) => sealing.lookupHash(value, purpose),
    lookupHashes: (value, purpose) => boxes.map((box) => box.lookupHash(value, purpose)),
    sealUnderNext(isNext) {
      sealing = isNext && next !== null ? next : current;
    },
    sealsUnderNext: () => sealing !== current,
  };
}

function createBoxOfOneKey(secretKey: string): Omit<SecretBox, 'lookupHashes'> {
  // Of a key as bytes, Node makes such an object for each hash, which takes five times as long as the hash.
  const keys = new Map<string, KeyObject>();

  function keyFor(use: 'seal' | 'lookup', purpose: string): KeyObject {
    const info = `signal-board/${use}/${purpose}`;
    const known = keys.get(info);
    if (known !== undefined) return known;
    const key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', info, KEY_BYTES)));
    keys.set(info, key);
    return key;
  }

  return {
    seal(plain, { purpose, binding }) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, keyFor('seal', purpose), nonce).setAAD(Buffer.from(binding));
      const body = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${VERSION}.${body.toString('base64url')}`;
    },

    open(sealed, { purpose, binding }) {
      const [version, text] = sealed.split('.', 2);
      const body = Buffer.from(text ?? '', 'base64url');
      if (version !== VERSION || body.length < NONCE_BYTES + TAG_BYTES) {
        throw new SecretBoxError('The sealed text has no known form');
      }
      const tagStart = body.length - TAG_BYTES;
      try {
        const decipher = createDecipheriv(CIPHER, keyFor('seal', purpose), body.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        })
          .setAAD(Buffer.from(binding))
          .setAuthTag(body.subarray(tagStart));
        return Buffer.concat([
          decipher.update(body.subarray(NONCE_BYTES, tagStart)),
          decipher.final(),
        ]).toString('utf8');
      } catch (error) {
        throw new SecretBoxError('The sealed text does not open with this key', { cause: error });
      }
    },

    lookupHash(value, purpose) {
      return createHmac('sha256', keyFor('lookup', purpose)).update(value).digest();
    },
  };
}
