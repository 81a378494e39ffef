import { describe, expect, test } from 'vitest';
import {
  createFigures,
  isMet,
  type MeasuredBench,
  mean,
  median,
  mergeResults,
  percentile,
  slope,
  toTable,
  writeFigures,
} from './figures.ts';

const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
const line = [0, 1, 2, 3].map((x) => ({ x, y: 200 + 2.5 * x }));
const wavering = [1, -1, 1, -1, -1, 1, -1, 1].map((y, x) => ({ x, y: 200 + y }));

test.each<[what: string, value: number, expected: number]>([
  ['the median of an odd number is the middle value', median([9, 1, 5]), 5],
  ['the median of one value is that value', median([7]), 7],
  ['the median of an even number lies between the two middle values', median([4, 1, 3, 10]), 3.5],
  ['a percentile is a measured value with the share at or below it', percentile(hundred, 0.95), 95],
  ['p99 of a hundred is the 99th', percentile(hundred, 0.99), 99],
  ['all of them is the greatest', percentile(hundred, 1), 100],
  ['a percentile of few values is the greatest', percentile([3, 1, 2], 0.99), 3],
  ['a percentile of one value is that value', percentile([5], 0.5), 5],
  ['the mean', mean([1, 2, 6]), 3],
  ['the slope of a line is how much it climbs', slope(line), 2.5],
])('%s', (_what, value, expected) => {
  expect(value).toBeCloseTo(expected, 10);
});

test('the slope of values that fluctuate around a constant is close to zero', () => {
  expect(Math.abs(slope(wavering))).toBeLessThan(0.01);
});

test.each<[what: string, work: () => number]>([
  ['median', () => median([])],
  ['percentile', () => percentile([], 0.5)],
  ['mean', () => mean([])],
  ['slope', () => slope([{ x: 1, y: 2 }])],
])('a %s of too few values is an error, not a zero', (_what, work) => {
  expect(work).toThrow(RangeError);
});

describe('a target', () => {
  const figure = (rounds: number[], target: object) => ({ name: 'a', unit: 'ms', rounds, target });

  test('is met when the median is within the limit, inclusive', () => {
    expect(isMet(figure([10, 50, 900], { most: 50 }))).toBe(true);
    expect(isMet(figure([10, 51, 52], { most: 50 }))).toBe(false);
    expect(isMet(figure([0.2, 1.3, 1.4], { least: 1.3 }))).toBe(true);
    expect(isMet(figure([1.2, 1.2, 1.4], { least: 1.3 }))).toBe(false);
  });

  test('can apply to every round', () => {
    expect(isMet(figure([10, 20, 900], { most: 50, everyRound: true }))).toBe(false);
    expect(isMet(figure([10, 20, 50], { most: 50, everyRound: true }))).toBe(true);
  });

  test('is neither met nor missed when a figure has none', () => {
    expect(isMet({ name: 'a', unit: 'ms', rounds: [1] })).toBeNull();
  });
});

test('rejects figures that are not numbers and skips null', () => {
  expect(() => createFigures().add('a', 'ms', Number.NaN)).toThrow('a is NaN');
  const figures = createFigures();
  figures.add('a', 'ms', null);
  expect(figures.all()).toEqual([]);
});

test('a table shows the median of each quantity with its smallest and largest round', () => {
  const figures = createFigures();
  for (const value of [1200, 900, 1000.4]) figures.add('deliveries', '/s', value);
  figures.add('memory', 'MB', 42.26);
  expect(toTable(figures.all()).split('\n')).toEqual([
    '| what       | median | unit | least … most | rounds |',
    '|------------|--------|------|--------------|--------|',
    '| deliveries | 1,000  | /s   | 900 … 1,200  | 3      |',
    '| memory     | 42.3   | MB   |              | 1      |',
  ]);
});

test('a table shows whether a target is met', () => {
  const figures = createFigures();
  figures.add('memory', 'MB', 42.26, { most: 42 });
  figures.add('ratio', '×', 1.4, { least: 1.3, everyRound: true });
  figures.add('rate', '/s', 7);
  expect(toTable(figures.all()).split('\n')).toEqual([
    '| what   | median | unit | least … most | rounds | target               | met |',
    '|--------|--------|------|--------------|--------|----------------------|-----|',
    '| memory | 42.3   | MB   |              | 1      | ≤ 42                 | no  |',
    '| ratio  | 1.4    | ×    |              | 1      | ≥ 1.3 in every round | yes |',
    '| rate   | 7      | /s   |              | 1      |                      |     |',
  ]);
});

const PAGE = [
  '# Performance',
  '',
  '<!-- figures: written by `npm run bench -- --write` from performance.json, not by hand -->',
  'older figures',
  '<!-- end of figures -->',
  '',
  'More text.',
  '',
].join('\n');

const measured = (bench: string, rounds: number[]): MeasuredBench => ({
  bench,
  about: 'What is measured',
  figures: [
    { name: 'ratio', unit: '×', rounds, target: { least: 1.3 } },
    { name: 'rate', unit: '/s', rounds: [5] },
  ],
  notes: ['A note.'],
  date: '2026-01-02T03:04:05.678Z',
  seconds: 61,
  command: `npm run bench -- ${bench}`,
  machine: { processors: 2, model: 'Some', memoryGb: 8, platform: 'linux x64', node: 'v24.0.0', load: 0.5 },
});

test('replaces figures between the marks and keeps the rest of the page', () => {
  const page = writeFigures(PAGE, [measured('ingest', [1.5, 1.2, 1.4]), measured('starts', [1])]);
  expect(page).toMatch(/^# Performance\n/);
  expect(page).toMatch(/<!-- end of figures -->\n\nMore text\.\n$/);
  expect(page).not.toContain('older figures');
  expect(page).toContain('2 figures have a target; 1 reach it.');
  expect(page).toMatch(/\| ingest +\| ratio \| 1\.4 × +\| 1\.2 … 1\.5 +\| ≥ 1\.3 +\| yes \|/);
  expect(page).toMatch(/\| starts +\| ratio \| 1 × +\| +\| ≥ 1\.3 +\| no {2}\|/);
  expect(page).toContain(
    'On 2 processors (Some), 8 GB, linux x64, Node v24.0.0:\n\n- **ingest** (2026-01-02 03:04 UTC',
  );
  expect(page).toContain(
    '61 s, load average 0.5 before): What is measured. A note.\n  - Also measured: rate 5 /s.',
  );
});

test('shows only the figure closest to missing its target when many share one target', () => {
  const lists = measured('lists', [1]);
  lists.figures = [12, 30, 7, 8, 9].map((value) => ({
    name: `list ${value}`,
    unit: 'ms',
    rounds: [value],
    target: { most: 50 },
  }));
  const page = writeFigures(PAGE, [lists]);
  expect(page).toContain('5 figures have a target; 5 reach it.');
  expect(page).toMatch(/\| lists +\| list 30 \(worst of 5\) +\| 30 ms +\| +\| ≤ 50 +\| yes \|/);
  expect(page).not.toContain('list 12');
});

test('writing the same figures again changes nothing', () => {
  const once = writeFigures(PAGE, [measured('ingest', [1.5])]);
  expect(writeFigures(once, [measured('ingest', [1.5])])).toBe(once);
});

test('a new measurement keeps the figures of other benchmarks', () => {
  const stored = [measured('starts', [1]), measured('ingest', [1])];
  const merged = mergeResults(stored, [measured('ingest', [2])], ['ingest', 'events', 'starts']);
  expect(merged.map(({ bench, figures }) => [bench, figures[0]?.rounds])).toEqual([
    ['ingest', [2]],
    ['starts', [1]],
  ]);
});

test('refuses a page without its marks', () => {
  expect(() => writeFigures('# Performance\n', [])).toThrow('has lost the marks');
});
