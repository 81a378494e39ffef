import { expect, test } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  hashPassword,
  MAX_AT_ONCE,
  MAX_WAITING,
  prepareUnknownUserHash,
  verifyPassword,
} from './password.ts';

// Requirements: sign-in-and-sessions-15
test('hashes with argon2id at the recommended cost, salted, and verifies only its password', async () => {
  const hash = await hashPassword('correct horse');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await hashPassword('correct horse')).not.toBe(hash);
  expect(await verifyPassword(hash, 'correct horse')).toBe(true);
  expect(await verifyPassword(hash, 'correct horsf')).toBe(false);
  expect(await verifyPassword(hash, '')).toBe(false);
});

test('never matches an unknown user, and costs as much as for a known one', async () => {
  expect(await prepareUnknownUserHash()).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword(null, 'wrong')).toBe(false);
  expect(await verifyPassword(null, '')).toBe(false);
});

testEveryCase('works off many concurrent calls in turn', async () => {
  const hash = await hashPassword('correct horse');
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, at) => verifyPassword(hash, at % 2 === 0 ? 'correct horse' : 'wrong')),
  );
  expect(results).toEqual(Array.from({ length: 40 }, (_, at) => at % 2 === 0));
});

testEveryCase('refuses calls immediately when too many wait', async () => {
  const hash = await hashPassword('correct horse');
  const results = await Promise.allSettled(
    Array.from({ length: MAX_AT_ONCE + MAX_WAITING + 57 }, () => verifyPassword(hash, 'correct horse')),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused).toHaveLength(57);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'unavailable', status: 503 });
  expect(await verifyPassword(hash, 'correct horse')).toBe(true);
});
