import { expect, test } from 'vitest';
import { hashPassword, prepareUnknownUserHash, verifyPassword } from './password.ts';

// Requirements: sign-in-and-sessions-15
test('a hash is argon2id with the recommended cost, salted, and verifies its password alone', async () => {
  const hash = await hashPassword('correct horse');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await hashPassword('correct horse')).not.toBe(hash);
  expect(await verifyPassword(hash, 'correct horse')).toBe(true);
  expect(await verifyPassword(hash, 'correct horsf')).toBe(false);
  expect(await verifyPassword(hash, '')).toBe(false);
});

test('an unknown user never matches, and takes about as long as a known one', async () => {
  const hash = await hashPassword('correct horse');
  await prepareUnknownUserHash();
  const timed = async (against: string | null) => {
    const start = performance.now();
    expect(await verifyPassword(against, 'wrong')).toBe(false);
    return performance.now() - start;
  };
  // The least of many, in turn: whatever else the machine does only adds to some of them.
  let [known, unknown] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 15; round++) {
    known = Math.min(known, await timed(hash));
    unknown = Math.min(unknown, await timed(null));
  }
  expect(unknown).toBeGreaterThan(known / 3);
  expect(unknown).toBeLessThan(known * 3);
});

test('many at once are worked off in turn', async () => {
  const hash = await hashPassword('correct horse');
  const results = await Promise.all(
    Array.from({ length: 40 }, (_, at) => verifyPassword(hash, at % 2 === 0 ? 'correct horse' : 'wrong')),
  );
  expect(results).toEqual(Array.from({ length: 40 }, (_, at) => at % 2 === 0));
});

test('more than can be worked off soon are refused at once instead of piling up', async () => {
  const hash = await hashPassword('correct horse');
  const results = await Promise.allSettled(
    Array.from({ length: 260 }, () => verifyPassword(hash, 'correct horse')),
  );
  const refused = results.filter((result) => result.status === 'rejected');
  expect(refused).toHaveLength(260 - 203);
  for (const { reason } of refused) expect(reason).toMatchObject({ code: 'unavailable', status: 503 });
  expect(await verifyPassword(hash, 'correct horse')).toBe(true);
});
