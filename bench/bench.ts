import type { BenchResult } from './figures.ts';

export interface BenchContext {
  say(line: string): void;
  /** Small sizes, to try a benchmark: its figures mean little. */
  short: boolean;
  /** How long a soak takes. */
  minutes: number;
}

export interface Bench {
  about: string;
  /** How long it takes, in words. */
  takes: string;
  /** Not run unless it is asked for: with --all, or by its name alone. */
  only?: 'all' | 'named';
  run(context: BenchContext): Promise<BenchResult>;
}
