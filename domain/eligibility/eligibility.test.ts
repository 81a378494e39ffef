import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_USER_SETTINGS, type TradingSettings } from '../user-settings.ts';
import { evaluateEligibility } from './eligibility.ts';
import type { EligibilityInput, EligibilityUser } from './eligibility-rules.ts';

const now = new Date('2024-05-01T12:00:00Z');
const settings: TradingSettings = { ...DEFAULT_USER_SETTINGS, activeTrading: true };

function user(
  changes: Partial<EligibilityUser> = {},
  settingChanges: Partial<TradingSettings> = {},
): EligibilityUser {
  return {
    id: 'u1',
    username: 'ann@example.com',
    isActive: true,
    isTestUser: true,
    isAdmin: false,
    settings: { ...settings, ...settingChanges },
    tradingHalt: null,
    exchangeReady: true,
    ...changes,
  };
}

function evaluate(users: EligibilityUser[], changes: Partial<EligibilityInput> = {}) {
  return evaluateEligibility({
    signal: { processor: 'Tesla', timeframe: '15', ownerUserId: 'admin', audience: 'everyone' },
    users,
    mode: 'sandbox',
    supportedExchanges: ['Bitget'],
    now,
    ...changes,
  });
}

const ownersSignal = {
  signal: { processor: 'Tesla', timeframe: '15', ownerUserId: 'someone', audience: 'owner' as const },
};

describe('a user is not eligible', () => {
  // Requirements: trading-workflows-and-eligibility-7, trading-workflows-and-eligibility-8
  // Requirements: trading-workflows-and-eligibility-9
  it.each<[string, EligibilityUser, Partial<EligibilityInput>, number, string]>([
    ['of a signal that is for its owner alone', user(), ownersSignal, 1, 'Signal belongs to another user'],
    ['when inactive', user({ isActive: false }), {}, 1, 'User is inactive'],
    ['without settings', user({ settings: null }), {}, 1, 'User settings not found'],
    [
      'with another processor',
      user({}, { signalProcessor: 'UD Bot' }),
      {},
      2,
      "Signal processor Tesla does not match the user's processor UD Bot",
    ],
    ['with active trading off', user({}, { activeTrading: false }), {}, 2, 'Active trading is off'],
    [
      'while paused',
      user({}, { tradingPausedUntil: new Date('2024-05-01T12:00:01Z') }),
      {},
      2,
      'Trading is paused until 2024-05-01T12:00:01.000Z',
    ],
    [
      'while halted',
      user({
        tradingHalt: {
          kind: 'unprotected',
          reason: 'The BTC position on Bitget has no stop loss and could not be closed',
          since: new Date('2024-05-01T11:00:00Z'),
        },
      }),
      {},
      2,
      'Trading of this user is halted since 2024-05-01T11:00:00.000Z: The BTC position on Bitget has no stop loss and could not be closed; an administrator has to resume it',
    ],
    [
      'with a method that is not there yet',
      user({}, { positionSizingMethod: 'Scalping' }),
      {},
      2,
      'Position sizing method Scalping is not available',
    ],
    [
      'with spot',
      user({}, { marketType: 'Spot' }),
      {},
      2,
      'Market type Spot is not available, only Futures is traded',
    ],
    [
      'with an exchange that is not supported',
      user({}, { exchangePlatform: 'Bybit' }),
      {},
      2,
      'Exchange Bybit is not supported in sandbox mode',
    ],
    [
      'as a regular user in the sandbox, administrators included',
      user({ isTestUser: false, isAdmin: true }),
      {},
      3,
      'Regular users trade only in live mode, the current mode is sandbox',
    ],
    [
      'as a test user in live mode',
      user(),
      { mode: 'live' },
      3,
      'Test users trade only in sandbox mode, the current mode is live',
    ],
    [
      'with another timeframe',
      user({}, { signalTimeframe: '1h' }),
      {},
      3,
      "Signal timeframe 15 does not match the user's timeframe 1h",
    ],
    ['without credentials', user({ exchangeReady: false }), {}, 3, 'No Bitget credentials are connected'],
  ])('%s', (_name, candidate, changes, layer, reason) => {
    const result = evaluate([candidate], changes);
    expect(result.eligible).toEqual([]);
    expect(result.decisions).toMatchObject([{ userId: 'u1', status: 'not eligible', layer, reason }]);
    expect(result.layers.map(({ count }) => count)).toEqual(
      [1, 1, 1, 0].map((count, i) => (i < layer - 1 ? count : 0)),
    );
  });
});

describe('a user is eligible', () => {
  // Requirements: trading-workflows-and-eligibility-8
  it.each<[string, EligibilityUser, Partial<EligibilityInput>]>([
    ['with every criterion met', user(), {}],
    ['with a processor in another case', user({}, { signalProcessor: 'tesla' }), {}],
    ['with any processor', user({}, { signalProcessor: 'Any' }), {}],
    ['after a pause', user({}, { tradingPausedUntil: now }), {}],
    ['with the same timeframe written otherwise', user({}, { signalTimeframe: '15m' }), {}],
    ['for the own signal', user({ id: 'someone' }), ownersSignal],
    ['as a regular user in live mode', user({ isTestUser: false }), { mode: 'live' }],
  ])('%s', (_name, candidate, changes) => {
    const result = evaluate([candidate], changes);
    expect(result.eligible.map(({ id }) => id)).toEqual([candidate.id]);
    expect(result.decisions).toMatchObject([{ status: 'eligible', layer: null }]);
    expect(result.layers.map(({ count }) => count)).toEqual([1, 1, 1, 1]);
  });

  it('when the signal itself is for any processor', () => {
    const signal = { processor: 'any', timeframe: '15', ownerUserId: 'admin', audience: 'everyone' as const };
    expect(evaluate([user({}, { signalProcessor: 'UD Bot' })], { signal }).eligible).toHaveLength(1);
  });
});

describe('the result', () => {
  // Requirements: trading-workflows-and-eligibility-10
  it('lists users by trade order set and then by username', () => {
    const result = evaluate([
      user({ id: '1', username: 'zoe@example.com' }, { tradeOrderSet: 'M' }),
      user({ id: '2', username: 'Bob@example.com' }, { tradeOrderSet: 'M' }),
      user({ id: '3', username: 'carl@example.com' }, { tradeOrderSet: 'A' }),
      user({ id: '4', username: 'ann@example.com' }, { tradeOrderSet: 'Z' }),
    ]);
    expect(result.eligible.map(({ id }) => id)).toEqual(['3', '2', '1', '4']);
    expect(result.eligible[0]).toEqual({
      id: '3',
      username: 'carl@example.com',
      isTestUser: true,
      tradeOrderSet: 'A',
    });
  });

  // Requirements: trading-workflows-and-eligibility-7
  it('counts who is left after each layer', () => {
    const result = evaluate([
      user({ id: '1' }),
      user({ id: '2', isActive: false }),
      user({ id: '3' }, { activeTrading: false }),
      user({ id: '4', isTestUser: false }),
    ]);
    expect(result).toMatchObject({ currentMode: 'sandbox', processor: 'Tesla' });
    expect(result.layers.map(({ count }) => count)).toEqual([3, 2, 1, 1]);
    expect(new Set(result.layers.map(({ name }) => name)).size).toBe(4);
  });

  it('says what it saw and what it wanted', () => {
    expect(evaluate([user({}, { activeTrading: false })]).decisions[0]).toMatchObject({
      rule: 'Active trading',
      saw: 'off',
      wanted: 'on',
    });
  });

  it('decides on every user exactly once, and agrees with itself', () => {
    const anyUser = fc
      .record({
        id: fc.uuid(),
        isActive: fc.boolean(),
        isTestUser: fc.boolean(),
        exchangeReady: fc.boolean(),
        hasSettings: fc.boolean(),
        activeTrading: fc.boolean(),
        signalProcessor: fc.constantFrom('Tesla', 'UD Bot', 'Any'),
        tradeOrderSet: fc.constantFrom('A', 'M', 'Z'),
      })
      .map(({ hasSettings, activeTrading, signalProcessor, tradeOrderSet, ...rest }) => ({
        ...user({ ...rest, username: rest.id }, { activeTrading, signalProcessor, tradeOrderSet }),
        ...(hasSettings ? {} : { settings: null }),
      }));
    fc.assert(
      fc.property(fc.uniqueArray(anyUser, { selector: ({ id }) => id }), (users) => {
        const { decisions, eligible, layers } = evaluate(users);
        expect(decisions.map(({ userId }) => userId).sort()).toEqual(users.map(({ id }) => id).sort());
        expect(decisions.filter(({ status }) => status === 'eligible').map(({ userId }) => userId)).toEqual(
          eligible.map(({ id }) => id),
        );
        const counts = layers.map(({ count }) => count);
        expect(counts).toEqual([...counts].sort((a, b) => b - a));
        expect(counts[3]).toBe(eligible.length);
        expect(decisions.every(({ reason }) => reason !== '')).toBe(true);
      }),
    );
  });
});
