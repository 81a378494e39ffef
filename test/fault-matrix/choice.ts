import { createRandom } from '#demo/random.ts';

/** Seeded choices: the same text gives the same choices on every machine. */
export interface Choice {
  /** From `least` to `most`, inclusive. */
  integer(least: number, most: number): number;
  between(least: number, most: number): number;
  oneOf<Value>(values: readonly Value[]): Value;
  chance(probability: number): boolean;
}

export function createChoice(seed: string): Choice {
  const { uniform } = createRandom(seed);
  // Skip the first numbers: they are similar for neighbouring seeds.
  for (let warmUp = 0; warmUp < 8; warmUp += 1) uniform();
  const integer = (least: number, most: number) => least + Math.floor(uniform() * (most - least + 1));
  return {
    integer,
    between: (least, most) => least + uniform() * (most - least),
    oneOf<Value>(values: readonly Value[]): Value {
      const value = values[integer(0, values.length - 1)];
      if (value === undefined) throw new RangeError('There is nothing to choose from');
      return value;
    },
    chance: (probability) => uniform() < probability,
  };
}
