import { beforeAll, describe, expect, test } from 'vitest';
import { SUITE_DIALECTS } from '#test/venues/exchange-suite-words.ts';
import { createTestDatabase } from '../app/test-database.ts';
import { MATRIX_FAULTS, waitsFor } from './matrix-faults.ts';
import { type CaseResult, casesOf, playCases } from './run-case.ts';

/**
 * The short form of `npm run fault-matrix`: every fault at both exchanges and both kinds of account at Bitget, with one
 * seed, and what it has after the entry.
 */
const SEED = 2;

const results: CaseResult[] = [];

beforeAll(async () => {
  await playCases({
    cases: casesOf({ seeds: [SEED] }),
    lanes: 3,
    createDatabase: createTestDatabase,
    onResult: (result) => results.push(result),
  });
}, 600_000);

describe.each(SUITE_DIALECTS)('%s', (exchange) => {
  test.each(MATRIX_FAULTS.flatMap((fault) => waitsFor(fault).map((waits) => ({ fault, waits }))))(
    'keeps all promises under the fault $fault with the $waits waits',
    ({ fault, waits }) => {
      const result = results.find(
        (one) => one.exchange === exchange && one.fault === fault && one.waits === waits,
      );
      expect(result?.violations, result?.story?.join('\n')).toEqual([]);
    },
  );
});

test('the median order takes at most twelve requests', async () => {
  const calls = results.flatMap(({ callsPerOrder }) => callsPerOrder).sort((one, other) => one - other);
  expect(calls.length).toBeGreaterThan(100);
  expect(calls[Math.floor(calls.length / 2)]).toBeLessThanOrEqual(12);
});
