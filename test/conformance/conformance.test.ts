import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PAGE, readTags, requirementsIn, withProofs } from './conformance-page.ts';

const page = readFileSync(PAGE, 'utf8');
const tags = readTags();
const ids = requirementsIn(page).map(({ id }) => id);

test('every requirement of docs/conformance.md is named by a test', () => {
  const named = new Set(tags.map(({ requirement }) => requirement));
  expect(ids.filter((id) => !named.has(id))).toEqual([]);
});

test('tests name only requirements that exist', () => {
  expect(tags.filter(({ requirement }) => !ids.includes(requirement))).toEqual([]);
});

test('no two requirements share an id, nor a text under one heading', () => {
  expect(ids.length).toBeGreaterThan(500);
  expect(ids).toEqual([...new Set(ids)]);
  for (const section of page.split('\n## ')) {
    const texts = requirementsIn(section).map(({ text }) => text);
    expect(texts).toEqual([...new Set(texts)]);
  }
});

test('docs/conformance.md matches the output of `npm run conformance`', () => {
  expect(page).toBe(withProofs(page, tags));
});
