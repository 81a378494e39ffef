import { expect, test } from 'vitest';
import {
  LONG_FORM,
  LONG_FORM_MINUTES,
  longFormOf,
  replayCommand,
  scenarioOf,
  withSizes,
} from './scenarios.ts';

test('the long form sets only sizes that its scenarios have', () => {
  for (const { name, sizes = {} } of LONG_FORM) {
    expect(Object.keys(scenarioOf(name).sizes), name).toEqual(expect.arrayContaining(Object.keys(sizes)));
  }
});

test('a shorter run reduces all counts and keeps the other sizes', () => {
  const half = longFormOf(LONG_FORM_MINUTES / 2);
  expect(half.map(({ name }) => name)).toEqual(LONG_FORM.map(({ name }) => name));
  expect(half[1]?.sizes).toEqual({
    alerts: 5_000,
    kills: 25,
    perSecond: 20,
    tradeEvery: 100,
    database: 'embedded',
  });
  for (const { sizes } of longFormOf(0.001)) {
    for (const value of Object.values(sizes)) expect(value).not.toBe(0);
  }
});

test('refuses a size that is unknown or not a number', () => {
  expect(withSizes({ kills: 50, database: 'external' }, ['kills=3', 'database=embedded'])).toEqual({
    kills: 3,
    database: 'embedded',
  });
  for (const wrong of ['kils=3', 'kills', 'kills=many', 'kills=-1']) {
    expect(() => withSizes({ kills: 50 }, [wrong]), wrong).toThrow(RangeError);
  }
});

test('the command that repeats a run contains its seed and all sizes', () => {
  const run = {
    name: 'crash-points',
    seed: '7',
    sizes: { seeds: 1, points: 'P8-not-sent P9-accepted' },
  } as const;
  expect(replayCommand(run)).toBe(
    "npm run faults -- --scenario crash-points --seed 7 --set seeds=1 --set 'points=P8-not-sent P9-accepted'",
  );
});
