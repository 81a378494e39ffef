import { expect, test } from 'vitest';
import { createSecretBox, SecretBoxError } from './secret-box.ts';

const box = createSecretBox('one secret key of at least 32 letters');
const options = { purpose: 'exchange-credentials', binding: 'user-1:Bitget' } as const;

test('opens sealed text under the same purpose and binding', () => {
  for (const plain of ['', 'secret', 'ключ 🔑'.repeat(100)]) {
    expect(box.open(box.seal(plain, options), options)).toBe(plain);
  }
});

test('reveals nothing in sealed text, and seals differently every time', () => {
  const sealed = box.seal('the plain text', options);
  expect(sealed).toMatch(/^v1\.[\w-]+$/);
  expect(Buffer.from(sealed.slice(3), 'base64url').toString('latin1')).not.toContain('plain');
  expect(box.seal('the plain text', options)).not.toBe(sealed);
});

// Requirements: users-8
test('does not open for another owner, another purpose or under another key', () => {
  const sealed = box.seal('secret', options);
  const other = createSecretBox('another secret key of 32 letters or so');
  expect(() => box.open(sealed, { ...options, binding: 'user-2:Bitget' })).toThrow(SecretBoxError);
  expect(() => box.open(sealed, { ...options, purpose: 'webhook-key' })).toThrow(SecretBoxError);
  expect(() => other.open(sealed, options)).toThrow(SecretBoxError);
});

test('detects a single flipped bit anywhere', () => {
  const sealed = box.seal('secret', options);
  const body = Buffer.from(sealed.slice(3), 'base64url');
  for (let at = 0; at < body.length; at++) {
    const altered = Buffer.from(body);
    altered.writeUInt8(altered.readUInt8(at) ^ 1, at);
    expect(() => box.open(`v1.${altered.toString('base64url')}`, options)).toThrow(SecretBoxError);
  }
});

test.each(['', 'v1', 'v1.', 'v1.AAAA', 'v2.AAAA', 'plain text'])('refuses %j as sealed text', (text) => {
  expect(() => box.open(text, options)).toThrow(SecretBoxError);
});

// Requirements: webhook-deliveries-2
test('hashes for look-up by the value, the purpose and the key only', () => {
  const hash = box.lookupHash('value', 'webhook-key');
  expect(hash).toHaveLength(32);
  expect(createSecretBox('one secret key of at least 32 letters').lookupHash('value', 'webhook-key')).toEqual(
    hash,
  );
  expect(box.lookupHash('value!', 'webhook-key')).not.toEqual(hash);
  expect(box.lookupHash('value', 'decision')).not.toEqual(hash);
  expect(
    createSecretBox('another secret key of 32 letters or so').lookupHash('value', 'webhook-key'),
  ).not.toEqual(hash);
});
