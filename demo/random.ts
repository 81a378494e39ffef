/** Seeded random numbers: the same text gives the same sequence on every machine. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  uniform(): number;
  /** Of the standard normal distribution. */
  normal(): number;
}

export function createRandom(seed: string): Random {
  let state = hash(seed);
  // mulberry32
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    uniform,
    normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
  };
}

/** FNV-1a. */
const hash = (text: string): number =>
  [...text].reduce(
    (value, character) => Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193),
    0x811c9dc5,
  );
