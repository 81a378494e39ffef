import { expect, test } from 'vitest';
import type { AuditValues } from '#contract/audit.ts';
import { changeSummary, fieldsOf } from './describe-entry.ts';

const formatInstant = (instant: string) => `<${instant.slice(11, 16)}>`;

const LONG = 'a name of much more than forty characters for a webhook';

test.each<[string, AuditValues | null, AuditValues | null]>([
  [
    'portion 0.1 → 0.2, exchange Bitget → Bybit',
    { portion: '0.1', exchange: 'Bitget', kept: 1 },
    { portion: '0.2', exchange: 'Bybit', kept: 1 },
  ],
  ['username ann@example.com, is admin no', null, { username: 'ann@example.com', isAdmin: false }],
  ['api key hint …x7Qk', { apiKeyHint: '…x7Qk' }, null],
  ['reason – → by hand', {}, { reason: 'by hand' }],
  ['paused until 2026-01-01 → –', { pausedUntil: '2026-01-01' }, { pausedUntil: null }],
  ['paused until – → <17:22>', {}, { pausedUntil: '2026-12-28T17:22:15.169Z' }],
  ['a 1, b 2, c 3 and 2 more', null, { a: 1, b: 2, c: 3, d: 4, e: 5 }],
  ['a 0, b 2, c 3 and 1 more', null, { a: 0, b: 2, c: 3, d: 4 }],
  ['kept 1', { kept: 1 }, { kept: 1 }],
  ['scopes ["read","trade"]', null, { scopes: ['read', 'trade'] }],
  [`name ${LONG.slice(0, 40)}...`, null, { name: LONG }],
  ['', {}, {}],
  ['', null, null],
])('tells the change as %j', (summary, before, after) => {
  expect(changeSummary({ before, after }, formatInstant)).toBe(summary);
});

test('lists every field of both sides once, and marks the changed ones', () => {
  const entry = { before: { gone: 'x', kept: true }, after: { kept: true, newOne: 2 } };
  expect(fieldsOf(entry, formatInstant)).toEqual([
    { name: 'gone', before: 'x', after: '–', isChanged: true },
    { name: 'kept', before: 'yes', after: 'yes', isChanged: false },
    { name: 'new one', before: '–', after: '2', isChanged: true },
  ]);
});
