import { expect, test } from 'vitest';
import { type MeasuredBench, mergeResults, readResults, writeFigures } from './report.ts';

const PAGE = [
  '# Performance',
  '',
  '<!-- figures: written by `npm run bench -- --write` from performance.json, not by hand -->',
  'what stood here before',
  '<!-- end of figures -->',
  '',
  'What follows.',
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

test('figures take the place between the marks, and all else of the page stays', () => {
  const page = writeFigures(PAGE, [measured('ingest', [1.5, 1.2, 1.4]), measured('starts', [1])]);
  expect(page).toMatch(/^# Performance\n/);
  expect(page).toMatch(/<!-- end of figures -->\n\nWhat follows\.\n$/);
  expect(page).not.toContain('what stood here before');
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

test('many figures with one target are shown by the one closest to missing it', () => {
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

test('figures that are written again replace themselves', () => {
  const once = writeFigures(PAGE, [measured('ingest', [1.5])]);
  expect(writeFigures(once, [measured('ingest', [1.5])])).toBe(once);
});

test('a benchmark that is measured again leaves the figures of the others alone', () => {
  const stored = readResults(JSON.stringify([measured('starts', [1]), measured('ingest', [1])]));
  const merged = mergeResults(stored, [measured('ingest', [2])], ['ingest', 'events', 'starts']);
  expect(merged.map(({ bench, figures }) => [bench, figures[0]?.rounds])).toEqual([
    ['ingest', [2]],
    ['starts', [1]],
  ]);
});

test('a page without its marks is not written over', () => {
  expect(() => writeFigures('# Performance\n', [])).toThrow('has lost the marks');
});
