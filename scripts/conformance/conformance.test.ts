import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConformanceList } from './conformance-list.ts';
import { readTestTitles } from './test-titles.ts';

const ROOT = join(import.meta.dirname, '../..');
const requirements = readConformanceList(readFileSync(join(ROOT, 'docs/conformance.md'), 'utf8'));

const SECTIONS = [
  ...[2, 3, 4, 5, 6, 7, 8, 9].map((number) => `1 §${number}`),
  ...[2.1, 2.2, 2.3, 2.4, 2.5, 3, 4, 5, 6, 7, 8, 9].map((number) => `2 §${number}`),
  ...[2, 3, 4, 5, 6, 7, 8, 9, 10, 12].map((number) => `Decisions §${number}`),
  'Additions',
];

describe('docs/conformance.md', () => {
  test.each(SECTIONS)('has requirements of %s', (section) => {
    expect(requirements.filter((requirement) => requirement.section === section)).not.toEqual([]);
  });

  test('says nothing twice', () => {
    const texts = requirements.map(({ section, text }) => `${section}: ${text}`);
    expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
  });

  const files = [...new Set(requirements.flatMap(({ proofs }) => proofs.map(({ file }) => file)))].sort();

  test.each(files)('names tests that are in %s', (file) => {
    const path = join(ROOT, file);
    expect(existsSync(path), 'the file exists').toBe(true);
    const titles = readTestTitles(readFileSync(path, 'utf8'));
    const named = requirements.flatMap(({ proofs }) => proofs.filter((proof) => proof.file === file));
    expect(named.filter(({ title }) => !titles.includes(title))).toEqual([]);
  });
});
