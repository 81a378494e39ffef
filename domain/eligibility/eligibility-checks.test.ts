import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_USER_SETTINGS } from '../user-settings.ts';
import { evaluateEligibility } from './eligibility.ts';
import { explainEligibility, recallChecks } from './eligibility-checks.ts';
import { ELIGIBILITY_RULES, type EligibilityInput, type EligibilityUser } from './eligibility-rules.ts';

const input: Omit<EligibilityInput, 'users'> = {
  signal: { processor: 'Tesla', timeframe: '15', ownerUserId: 'admin', audience: 'everyone' },
  mode: 'sandbox',
  supportedExchanges: ['Bitget'],
  now: new Date('2024-05-01T12:00:00Z'),
};
const trader: EligibilityUser = {
  id: 'u1',
  username: 'ann@example.com',
  isActive: true,
  isTestUser: true,
  isAdmin: false,
  settings: { ...DEFAULT_USER_SETTINGS, activeTrading: true },
  tradingHalt: null,
  exchangeReady: true,
};
const explain = (user: EligibilityUser) => explainEligibility(user, { ...input, users: [user] });
const settings = DEFAULT_USER_SETTINGS;

describe('the explanation of a decision', () => {
  test('says what each rule saw and wanted up to the deciding one, and names those not reached', () => {
    const { decision, checks } = explain({ ...trader, settings });
    expect(decision).toMatchObject({ status: 'not eligible', rule: 'Active trading' });
    expect(checks.map(({ rule }) => rule)).toEqual(ELIGIBILITY_RULES.map(({ name }) => name));
    expect(checks[3]).toEqual({
      layer: 2,
      rule: 'Processor',
      result: 'passed',
      saw: 'Tesla',
      wanted: 'Tesla or Any',
    });
    expect(checks[4]).toEqual({
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

  test('has every rule passed for an eligible user', () => {
    const { decision, checks } = explain(trader);
    expect(decision.status).toBe('eligible');
    expect(checks.every(({ result, saw }) => result === 'passed' && saw !== null)).toBe(true);
  });

  // Requirements: additions-why-and-why-not-3
  test('is the decision that the workflow makes, whoever the user is', () => {
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
        const user = {
          ...trader,
          ...fields,
          settings: changes === null ? null : { ...settings, ...changes },
        } as EligibilityUser;
        const { decision, checks } = explain(user);
        expect(evaluateEligibility({ ...input, users: [user] }).decisions).toEqual([decision]);
        const failed = checks.filter(({ result }) => result === 'failed');
        expect(failed.map(({ rule }) => rule)).toEqual(decision.layer === null ? [] : [decision.rule]);
      }),
    );
  });
});

describe('a recorded decision', () => {
  test('is recalled rule by rule, with the values of the deciding one alone', () => {
    const { decision, checks } = explain({ ...trader, settings });
    const recalled = recallChecks(decision);
    expect(recalled.map(({ rule, result }) => [rule, result])).toEqual(
      checks.map(({ rule, result }) => [rule, result]),
    );
    expect(recalled[4]).toEqual(checks[4]);
    expect(recalled[3]).toMatchObject({ result: 'passed', saw: null, wanted: null });
  });

  test('of an eligible user passed them all', () => {
    const recalled = recallChecks(explain(trader).decision);
    expect(recalled.map(({ result }) => result)).toEqual(ELIGIBILITY_RULES.map(() => 'passed'));
  });

  test('by a rule that is not asked any more stands alone', () => {
    const gone = { layer: 2, rule: 'A former rule', saw: 'this', wanted: 'that' };
    expect(recallChecks(gone)).toEqual([{ ...gone, result: 'failed' }]);
  });
});
