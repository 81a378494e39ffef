import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { createTestDatabase } from '../app/test-database.ts';
import { groupsOf, type Lane, openLane } from './groups.ts';
import { MATRIX_FAULTS } from './matrix-faults.ts';
import type { CaseResult } from './run-case.ts';

/** The short form of `npm run fault-matrix`: every fault at both exchanges, with one seed. */
const SEED = 2;
/** While one run waits for its database or for an exchange that never answers, others go on. */
const LANES = 3;

const lanes: Lane[] = [];
const results: CaseResult[] = [];

beforeAll(async () => {
  const exchanges = groupsOf({ seeds: [SEED], faults: [], exchanges: [] });
  const left = exchanges.flatMap((group) => group.faults.map((fault) => ({ ...group, faults: [fault] })));
  const controls = new Map();
  await Promise.all(
    Array.from({ length: LANES }, async () => {
      const lane = openLane({ createDatabase: createTestDatabase, controls });
      lanes.push(lane);
      for (let group = left.shift(); group !== undefined; group = left.shift()) {
        await lane.run(group, (result) => results.push(result));
      }
    }),
  );
}, 400_000);
afterAll(() => Promise.all(lanes.map((lane) => lane.close())));

describe.each(EXCHANGE_PLATFORMS)('%s', (exchange) => {
  test.each(MATRIX_FAULTS)('with the fault %s nothing breaks that is promised', (fault) => {
    const result = results.find((one) => one.exchange === exchange && one.fault === fault);
    expect(result?.violations, result?.story?.join('\n')).toEqual([]);
  });
});

test('an order takes at most twelve requests, by the median', async () => {
  const calls = results.flatMap(({ callsPerOrder }) => callsPerOrder).sort((one, other) => one - other);
  expect(calls.length).toBeGreaterThan(100);
  expect(calls[Math.floor(calls.length / 2)]).toBeLessThanOrEqual(12);
});
