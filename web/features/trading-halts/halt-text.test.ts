import { describe, expect, test } from 'vitest';
import { haltEnd, haltEnding } from './halt-text.ts';

const cleared = { clearedAt: '2026-05-04T10:00:00Z', clearedHow: 'The position is closed' };
const uncleared = { clearedAt: null, clearedHow: null };

describe('the end of a halt', () => {
  test.each([
    ['unprotected', uncleared, true, 'It is being protected or closed in the background.'],
    ['unprotected', cleared, true, 'The position is closed: it can be resumed.'],
    ['unprotected', cleared, false, 'The position is closed: an administrator can resume it.'],
    ['surplus', uncleared, true, 'It waits until the exchange shows the position closed or protected.'],
    ['surplus', cleared, true, 'The position is closed: it can be resumed.'],
    ['unverified', uncleared, false, 'It ends by itself when the exchange shows the stop.'],
  ] as const)('is explained for %s %o (administrator: %s)', (kind, state, isAdmin, text) => {
    expect(haltEnding({ kind, ...state }, { isAdmin })).toBe(text);
  });
});

test('names the user who resumed a halt', () => {
  expect(haltEnd({ endedBy: 'ann@example.com' })).toBe('Resumed by ann@example.com');
  expect(haltEnd({ endedBy: null })).toBe('By itself');
});
