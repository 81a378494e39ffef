import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { conformancePage, PAGE } from './conformance-page.ts';
import { readTags } from './read-tags.ts';
import { REQUIREMENTS } from './requirements.ts';

const tags = readTags(join(import.meta.dirname, '../..'));
const ids = Object.values(REQUIREMENTS).flatMap((requirements) => Object.keys(requirements));

test('every requirement is named by a test', () => {
  const named = new Set(tags.map(({ requirement }) => requirement));
  expect(ids.filter((id) => !named.has(id))).toEqual([]);
});

test('tests name only requirements that exist', () => {
  expect(tags.filter(({ requirement }) => !ids.includes(requirement))).toEqual([]);
});

test('no two requirements share an id or a text', () => {
  expect(ids).toEqual([...new Set(ids)]);
  for (const [subject, requirements] of Object.entries(REQUIREMENTS)) {
    const texts = Object.values(requirements);
    expect(texts, subject).toEqual([...new Set(texts)]);
  }
});

test('docs/conformance.md matches the output of `npm run conformance`', () => {
  expect(readFileSync(PAGE, 'utf8')).toBe(conformancePage(tags));
});
