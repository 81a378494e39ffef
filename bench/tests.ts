import { fileURLToPath } from 'node:url';
import type { BenchContext } from './bench.ts';
import { runChild } from './child.ts';
import { type BenchResult, createFigures } from './figures.ts';

const TEST = fileURLToPath(new URL('../scripts/test.mjs', import.meta.url));
const MOST_MINUTES = 15;
const LIMIT_MS = 60 * 60_000;

/** The whole test run, from its command to its end. Fails when a test does. */
export async function benchTests({ say, short }: BenchContext): Promise<BenchResult> {
  const figures = createFigures();
  const args = short ? ['--only=unit'] : [];
  say(`tests: npm test ${args.join(' ')}`);
  const startedAt = performance.now();
  // As a developer runs it: the benchmarks' own NODE_ENV would change what is tested.
  const output = await runChild(process.execPath, [TEST, ...args], {
    env: { NODE_ENV: '' },
    limitMs: LIMIT_MS,
  });
  figures.add('npm test', 'min', (performance.now() - startedAt) / 60_000, { most: MOST_MINUTES });
  const [, passed = '0'] = /^(\d+) passed, 0 failed$/m.exec(output) ?? [];
  figures.add('tests', '', Number(passed));
  return {
    bench: 'tests',
    about: 'The whole test run: types, style, unit, server and browser tests',
    figures: figures.all(),
    notes: ['Packages are in place; the web is built anew when it has changed.'],
  };
}
