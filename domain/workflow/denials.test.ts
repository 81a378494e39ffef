import { describe, expect, it } from 'vitest';
import { DENIALS, type DenialCode, denialTitle, deny, reasonOfSkip, skipMessage } from './denials.ts';

const codes = Object.keys(DENIALS) as DenialCode[];
/** Returns each key's own name, so that a sentence shows which figures it uses. */
const anyContext = new Proxy({}, { get: (_target, key) => String(key) });

describe('denials', () => {
  it.each(codes)('%s has a title and one sentence without gaps', (code) => {
    const sentence = DENIALS[code].sentence as (context: object) => string;
    expect(denialTitle(code)).toMatch(/^[A-Z]/);
    expect(sentence(anyContext)).toMatch(/^[A-Za-z].*[^;,\s]$/);
    expect(sentence(anyContext)).not.toMatch(/undefined|NaN|\n/);
  });

  it('differ in their sentences', () => {
    const sentences = codes.map((code) =>
      (DENIALS[code].sentence as (context: object) => string)(anyContext),
    );
    expect(new Set(sentences).size).toBe(codes.length);
  });

  it('carry their figures', () => {
    expect(deny('token_not_listed', { token: 'PEPE', exchange: 'Bitget' })).toEqual({
      code: 'token_not_listed',
      reason: 'PEPE is not listed on Bitget',
      context: { token: 'PEPE', exchange: 'Bitget' },
    });
  });

  it('use the specified texts', () => {
    expect(deny('protection_missing', {}).reason).toBe(
      'Cannot prepare order without Stop Loss and Take Profit. This is a strict safety rule.',
    );
    expect(denialTitle('protection_missing')).toBe('SAFETY VIOLATION');
    expect(deny('position_data_missing', {}).reason).toBe('Please calculate position parameters first.');
    expect(denialTitle('position_data_missing')).toBe('No Position Data');
    expect(deny('settings_not_found', {}).reason).toBe('User settings not found');
    expect(deny('signal_of_another_user', {}).reason).toBe('Signal belongs to another user');
  });

  it('become a skip message that says that the user is skipped', () => {
    expect(skipMessage('ATR is required for Technical Analysis')).toBe(
      'ATR is required for Technical Analysis; user will be skipped',
    );
    expect(skipMessage('One. Two.')).toBe('One. Two; user will be skipped');
  });

  it('are read back from a skip message; any other text stays unchanged', () => {
    expect(reasonOfSkip(skipMessage('ATR is required'))).toBe('ATR is required');
    expect(reasonOfSkip('user will be skipped; or not')).toBe('user will be skipped; or not');
  });
});
