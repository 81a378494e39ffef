import { expect, test } from 'vitest';
import { replayCommand } from './run-scenarios.ts';
import { LONG_FORM, LONG_FORM_MINUTES, longFormOf, scenarioOf, withSizes } from './scenarios.ts';

test('the long form gives every scenario the sizes that it knows, and no other', () => {
  for (const { name, sizes } of LONG_FORM) {
    expect(Object.keys(sizes).sort(), name).toEqual(Object.keys(scenarioOf(name).sizes).sort());
  }
});

test('a shorter run has fewer of everything that is counted and leaves the rest as it is', () => {
  const half = longFormOf(LONG_FORM_MINUTES / 2);
  expect(half.map(({ name }) => name)).toEqual(LONG_FORM.map(({ name }) => name));
  expect(half[0]?.sizes).toEqual({
    alerts: 5_000,
    kills: 25,
    perSecond: 20,
    tradeEvery: 100,
    database: 'external',
  });
  for (const { sizes } of longFormOf(0.001)) {
    for (const value of Object.values(sizes)) expect(value).not.toBe(0);
  }
});

test('a size that a scenario does not have is refused, and so is one that is no number', () => {
  expect(withSizes({ kills: 50, database: 'external' }, ['kills=3', 'database=embedded'])).toEqual({
    kills: 3,
    database: 'embedded',
  });
  for (const wrong of ['kils=3', 'kills', 'kills=many', 'kills=-1']) {
    expect(() => withSizes({ kills: 50 }, [wrong]), wrong).toThrow(RangeError);
  }
});

test('the command that repeats a run names its seed and all of its sizes', () => {
  const run = {
    name: 'crash-points',
    seed: '7',
    sizes: { seeds: 1, points: 'P8-not-sent P9-accepted' },
  } as const;
  expect(replayCommand(run)).toBe(
    "npm run faults -- --scenario crash-points --seed 7 --set seeds=1 --set 'points=P8-not-sent P9-accepted'",
  );
});
