import { expect, test } from 'vitest';
import { createCanaries } from './canaries.ts';

const canaries = createCanaries();
const canary = canaries.next('key');

test.each<[string, (text: string) => string | Buffer]>([
  ['as it stands', (text) => `before ${text} after`],
  ['in JSON in JSON', (text) => JSON.stringify(JSON.stringify({ text }))],
  ['URL-encoded', (text) => `?a=${encodeURIComponent(text)}`],
  ['in base64', (text) => Buffer.from(text).toString('base64')],
  ['in base64 after one byte', (text) => Buffer.from(`a${text}`).toString('base64')],
  ['in base64url after two bytes', (text) => Buffer.from(`ab${text}`).toString('base64url')],
  ['in hex', (text) => `\\x${Buffer.from(text).toString('hex')}`],
  ['in upper-case hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  ['in the middle of bytes', (text) => Buffer.concat([Buffer.from([0, 255]), Buffer.from(text)])],
])('a canary is found %s', (_name, hide) => {
  expect(canaries.findIn('here', hide(canary))).toHaveLength(1);
});

test('finds no canary in clean content and none of other sets', () => {
  const others = createCanaries().next('key');
  expect(canaries.findIn('here', `${others} ${Buffer.from(others).toString('hex')}`)).toEqual([]);
});
