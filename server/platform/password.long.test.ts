/** Every case. */
import './password.test.ts';
import { expect, test } from 'vitest';
import { hashPassword, prepareUnknownUserHash, verifyPassword } from './password.ts';

test('takes about as long for an unknown user as for a known one', async () => {
  const hash = await hashPassword('correct horse');
  await prepareUnknownUserHash();
  const timed = async (against: string | null) => {
    const start = performance.now();
    expect(await verifyPassword(against, 'wrong')).toBe(false);
    return performance.now() - start;
  };
  // The minimum of many alternating runs: other load on the machine only adds time.
  let [known, unknown] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < 15; round++) {
    known = Math.min(known, await timed(hash));
    unknown = Math.min(unknown, await timed(null));
  }
  expect(unknown).toBeGreaterThan(known / 3);
  expect(unknown).toBeLessThan(known * 3);
});
