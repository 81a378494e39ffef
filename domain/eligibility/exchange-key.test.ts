import { describe, expect, it } from 'vitest';
import { denyKey } from './exchange-key.ts';

const judge = (
  key: Partial<Parameters<typeof denyKey>[0]['key']>,
  exchange: 'Bitget' | 'Bybit' = 'Bitget',
) => {
  const wanted = exchange === 'Bitget' ? (['classic', 'unified'] as const) : (['unified'] as const);
  const whole = { accountMode: wanted[0], mayTrade: true, mayWithdraw: false, ...key } as const;
  return denyKey({ exchange, wanted, key: whole })?.reason ?? null;
};

describe('an API key', () => {
  it('of the right kind of account with only the right to trade is accepted', () => {
    expect(judge({})).toBeNull();
    expect(judge({ accountMode: 'unified' })).toBeNull();
    expect(judge({}, 'Bybit')).toBeNull();
  });

  // Requirements: users-10
  it('that may withdraw is never accepted, whatever its other rights', () => {
    const reason = 'This Bitget API key may withdraw: enter one that may trade futures and may not withdraw';
    expect(judge({ mayWithdraw: true })).toBe(reason);
    expect(judge({ mayWithdraw: true, mayTrade: false, accountMode: 'unified' })).toBe(reason);
  });

  it('of another kind of account is refused for its kind before a missing right', () => {
    expect(judge({ accountMode: 'classic', mayTrade: false }, 'Bybit')).toMatch(
      /^This Bybit API key belongs to a classic account, only unified accounts are traded/,
    );
  });

  it('of a unified account in a mode that is not traded is refused, with where to change it', () => {
    expect(judge({ accountMode: 'unified', untradedMode: 'advanced', mayTrade: false })).toBe(
      'This Bitget API key belongs to a unified account in advanced mode, only isolated margin mode is traded: choose isolated margin as the account mode in the settings of the unified account at Bitget',
    );
  });

  it('that may not trade is refused', () => {
    expect(judge({ mayTrade: false })).toMatch(/may not trade futures: enter one/);
  });
});
