import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SUITE_DIALECTS } from '#test/venues/exchange-suite-words.ts';
import { createTestDatabase } from '../app/test-database.ts';
import { MATRIX_FAULTS, waitsFor } from './matrix-faults.ts';
import { type CaseResult, casesOf, playCases } from './run-case.ts';

/**
 * The short form of `npm run fault-matrix`: every fault at both exchanges and both kinds of account at Bitget, with one
 * seed, and what it has after the entry.
 */
const SEED = 2;

const keyOf = ({ exchange, fault, waits }: Pick<CaseResult, 'exchange' | 'fault' | 'waits'>) =>
  `${exchange} ${fault} ${waits}`;

const cases = casesOf({ seeds: [SEED] });
/** Each case as it ends; they are played in the order of the tests. */
const results = new Map(cases.map((one) => [keyOf(one), Promise.withResolvers<CaseResult>()]));
let playing: Promise<void>;

beforeAll(() => {
  playing = playCases({
    cases,
    lanes: 3,
    createDatabase: createTestDatabase,
    onResult: (result) => results.get(keyOf(result))?.resolve(result),
  });
  playing.catch((error: unknown) => {
    for (const { promise, reject } of results.values()) {
      promise.catch(() => undefined);
      reject(error);
    }
  });
});
afterAll(() => playing);

describe.each(SUITE_DIALECTS)('%s', (exchange) => {
  test.each(MATRIX_FAULTS.flatMap((fault) => waitsFor(fault).map((waits) => ({ fault, waits }))))(
    'keeps all promises under the fault $fault with the $waits waits',
    async ({ fault, waits }) => {
      const result = await results.get(keyOf({ exchange, fault, waits }))?.promise;
      expect(result?.violations, result?.story?.join('\n')).toEqual([]);
    },
  );
});

test('the median order takes at most twelve requests', async () => {
  const all = await Promise.all([...results.values()].map(({ promise }) => promise));
  const calls = all.flatMap(({ callsPerOrder }) => callsPerOrder).sort((one, other) => one - other);
  expect(calls.length).toBeGreaterThan(100);
  expect(calls[Math.floor(calls.length / 2)]).toBeLessThanOrEqual(12);
});
