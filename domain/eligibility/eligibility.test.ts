import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_USER_SETTINGS, type TradingSettings } from '../user-settings.ts';
import { evaluateEligibility, explainEligibility, recallChecks } from './eligibility.ts';
import { ELIGIBILITY_RULES, type EligibilityInput, type EligibilityUser } from './eligibility-rules.ts';

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
    tradingStop: null,
    exchangeReady: true,
    ...changes,
  };
}

const input: Omit<EligibilityInput, 'users'> = {
  signal: { processor: 'Tesla', timeframe: '15', ownerUserId: 'admin', audience: 'everyone' },
  mode: 'sandbox',
  supportedExchanges: ['Bitget'],
  now,
};
const evaluate = (users: EligibilityUser[], changes: Partial<EligibilityInput> = {}) =>
  evaluateEligibility({ ...input, users, ...changes });

const ownersSignal = {
  signal: { processor: 'Tesla', timeframe: '15', ownerUserId: 'someone', audience: 'owner' as const },
};

describe('a user is not eligible', () => {
  // Requirements: trading-workflows-and-eligibility-7, trading-workflows-and-eligibility-8
  // Requirements: trading-workflows-and-eligibility-9
  it.each<[number, string, EligibilityUser, Partial<EligibilityInput>?]>([
    [1, 'Signal belongs to another user', user(), ownersSignal],
    [1, 'User is inactive', user({ isActive: false })],
    [1, 'User settings not found', user({ settings: null })],
    [
      2,
      "Signal processor Tesla does not match the user's processor UD Bot",
      user({}, { signalProcessor: 'UD Bot' }),
    ],
    [2, 'Active trading is off', user({}, { activeTrading: false })],
    [
      2,
      'Trading is paused until 2024-05-01T12:00:01.000Z',
      user({}, { tradingPausedUntil: new Date('2024-05-01T12:00:01Z') }),
    ],
    [
      2,
      'Trading of this user is halted since 2024-05-01T11:00:00.000Z: No stop loss; an administrator has to resume it',
      user({
        tradingHalt: { kind: 'unprotected', reason: 'No stop loss', since: new Date('2024-05-01T11:00:00Z') },
      }),
    ],
    [2, 'Position sizing method Scalping is not available', user({}, { positionSizingMethod: 'Scalping' })],
    [2, 'Market type Spot is not available, only Futures is traded', user({}, { marketType: 'Spot' })],
    [2, 'Exchange Bybit is not supported in sandbox mode', user({}, { exchangePlatform: 'Bybit' })],
    [
      3,
      'Regular users trade only in live mode, the current mode is sandbox',
      user({ isTestUser: false, isAdmin: true }),
    ],
    [3, 'Test users trade only in sandbox mode, the current mode is live', user(), { mode: 'live' }],
    [3, "Signal timeframe 15 does not match the user's timeframe 1h", user({}, { signalTimeframe: '1h' })],
    [3, 'No Bitget credentials are connected', user({ exchangeReady: false })],
  ])('by layer %i: %s', (layer, reason, candidate, changes) => {
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
    ['with the same timeframe in another spelling', user({}, { signalTimeframe: '15m' }), {}],
    ['for their own signal', user({ id: 'someone' }), ownersSignal],
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
  it('counts the users left after each layer', () => {
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

  it('decides on every user exactly once, and consistently', () => {
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

const explain = (candidate: EligibilityUser) =>
  explainEligibility(candidate, { ...input, users: [candidate] });

describe('the explanation of a decision', () => {
  it('says what each rule saw and wanted up to the deciding one, and names those not reached', () => {
    const { decision, checks } = explain(user({}, { activeTrading: false }));
    expect(decision).toMatchObject({ status: 'not eligible', rule: 'Active trading' });
    expect(checks.map(({ rule }) => rule)).toEqual(ELIGIBILITY_RULES.map(({ name }) => name));
    const [processor, activeTrading] = checks.slice(3, 5);
    expect(processor).toEqual({
      layer: 2,
      rule: 'Processor',
      result: 'passed',
      saw: 'Tesla',
      wanted: 'Tesla or Any',
    });
    expect(activeTrading).toEqual({
      layer: 2,
      rule: 'Active trading',
      result: 'failed',
      saw: 'off',
      wanted: 'on',
    });
    for (const check of checks.slice(5)) {
      expect(check).toMatchObject({ result: 'not reached', saw: null, wanted: null });
    }
  });

  it('shows every rule as passed for an eligible user', () => {
    const { decision, checks } = explain(user());
    expect(decision.status).toBe('eligible');
    expect(checks.every(({ result, saw }) => result === 'passed' && saw !== null)).toBe(true);
  });

  // Requirements: additions-why-and-why-not-3
  it('matches the workflow’s decision for any user', () => {
    const anyUser = fc.record({
      isActive: fc.boolean(),
      isTestUser: fc.boolean(),
      exchangeReady: fc.boolean(),
      settings: fc.option(
        fc.record({
          activeTrading: fc.boolean(),
          signalProcessor: fc.constantFrom('Tesla', 'UD Bot', 'Any'),
          signalTimeframe: fc.constantFrom('Any', '15m', '1h'),
          marketType: fc.constantFrom('Futures', 'Spot'),
        }),
      ),
    });
    fc.assert(
      fc.property(anyUser, ({ settings: changes, ...fields }) => {
        const candidate = changes === null ? user({ ...fields, settings: null }) : user(fields, changes);
        const { decision, checks } = explain(candidate);
        expect(evaluate([candidate]).decisions).toEqual([decision]);
        const failed = checks.filter(({ result }) => result === 'failed');
        expect(failed.map(({ rule }) => rule)).toEqual(decision.layer === null ? [] : [decision.rule]);
      }),
    );
  });
});

describe('a recorded decision', () => {
  it('is rebuilt rule by rule, with the values of the deciding rule only', () => {
    const { decision, checks } = explain(user({}, { activeTrading: false }));
    const recalled = recallChecks(decision, ELIGIBILITY_RULES);
    expect(recalled.map(({ rule, result }) => [rule, result])).toEqual(
      checks.map(({ rule, result }) => [rule, result]),
    );
    expect(recalled[4]).toEqual(checks[4]);
    expect(recalled[3]).toMatchObject({ result: 'passed', saw: null, wanted: null });
  });

  it('of an eligible user passes every rule', () => {
    const recalled = recallChecks(explain(user()).decision, ELIGIBILITY_RULES);
    expect(recalled.map(({ result }) => result)).toEqual(ELIGIBILITY_RULES.map(() => 'passed'));
  });

  it('by a rule that no longer exists is shown without other rules', () => {
    const gone = { layer: 2, rule: 'A former rule', saw: 'this', wanted: 'that' };
    expect(recallChecks(gone, ELIGIBILITY_RULES)).toEqual([{ ...gone, result: 'failed' }]);
  });
});
