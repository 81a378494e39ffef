import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rotateUsers } from './rotation.ts';

interface User {
  id: number;
  tradeOrderSet: string;
}
const letters = fc.array(fc.constantFrom('A', 'M', 'Z'), { minLength: 1, maxLength: 64 });
const inOrder = (sets: string[]): User[] =>
  sets.toSorted().map((tradeOrderSet, id) => ({ id, tradeOrderSet }));

// Requirements: results-rotation-1
describe('the rotation of users', () => {
  test('keeps the letters in order and takes turns within each', () => {
    const users = inOrder(['A', 'A', 'A', 'B', 'B']);
    const orders = [0, 1, 2, 3, 4].map((number) =>
      rotateUsers(users, number)
        .map(({ id }) => id)
        .join(''),
    );
    expect(orders).toEqual(['01234', '21043', '12043', '02134', '20134']);
  });

  test('always orders the same users, each letter before the next', () => {
    fc.assert(
      fc.property(letters, fc.nat(10_000), (sets, number) => {
        const users = inOrder(sets);
        const rotated = rotateUsers(users, number);
        expect(rotated.map(({ tradeOrderSet }) => tradeOrderSet)).toEqual(sets.toSorted());
        expect(new Set(rotated)).toEqual(new Set(users));
      }),
    );
  });

  test('over any 100 signals or more, mean ranks within a letter differ by less than 5 %', () => {
    fc.assert(
      fc.property(letters, fc.nat(10_000), fc.integer({ min: 100, max: 140 }), (sets, start, count) => {
        const users = inOrder(sets);
        const ranks = new Map(users.map(({ id }) => [id, 0]));
        for (let number = start; number < start + count; number += 1) {
          const rotated = Map.groupBy(rotateUsers(users, number), ({ tradeOrderSet }) => tradeOrderSet);
          for (const same of rotated.values()) {
            for (const [index, { id }] of same.entries()) ranks.set(id, (ranks.get(id) ?? 0) + index + 1);
          }
        }
        for (const same of Map.groupBy(users, ({ tradeOrderSet }) => tradeOrderSet).values()) {
          const means = same.map(({ id }) => (ranks.get(id) ?? 0) / count);
          expect(Math.max(...means) - Math.min(...means)).toBeLessThan(0.05 * ((same.length + 1) / 2));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('everyone is first equally often over twice as many signals as users', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.nat(1_000), (size, round) => {
        const users = inOrder(Array.from({ length: size }, () => 'A'));
        const firsts = Array.from({ length: 2 * size }, (_, n) => rotateUsers(users, 2 * round + n)[0]?.id);
        expect(firsts.toSorted((a = 0, b = 0) => a - b)).toEqual(users.flatMap(({ id }) => [id, id]));
      }),
    );
  });

  test.each([-1, 0.5, Number.NaN])('refuses %s as the number of a signal', (number) => {
    expect(() => rotateUsers([], number)).toThrow(RangeError);
  });
});
