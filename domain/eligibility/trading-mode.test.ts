import { describe, expect, it } from 'vitest';
import {
  autoTradeEnabled,
  autoTradeOff,
  denyWrongMode,
  eligibilityMode,
  manualTriggerAllowed,
  orderSubmissionAllowed,
} from './trading-mode.ts';

describe('trading mode', () => {
  it('treats paper and demo as the sandbox', () => {
    const modes = (['paper', 'demo', 'live'] as const).map(eligibilityMode);
    expect(modes).toEqual(['sandbox', 'sandbox', 'live']);
  });

  // Requirements: settings-of-the-program-2
  it('requires production and the switch for automatic trading', () => {
    expect(autoTradeEnabled({ appEnv: 'production', autoTrade: 'enabled' })).toBe(true);
    expect(autoTradeEnabled({ appEnv: 'production', autoTrade: 'disabled' })).toBe(false);
    expect(autoTradeEnabled({ appEnv: 'development', autoTrade: 'enabled' })).toBe(false);
    expect(autoTradeEnabled({ appEnv: 'staging', autoTrade: 'enabled' })).toBe(false);
  });

  it('reports automatic trading as off by the switch or outside production, and says which', () => {
    const [on, off] = [{ enabled: true }, { enabled: false }];
    expect(autoTradeOff({ appEnv: 'production', autoTrade: on })).toBeNull();
    expect(autoTradeOff({ appEnv: 'production', autoTrade: off })?.detail).toContain('AUTO_TRADE');
    expect(autoTradeOff({ appEnv: 'staging', autoTrade: on })?.detail).toBe('in the environment staging');
  });

  // Requirements: trading-roles-2
  it('turns manual triggers off only in a production deployment', () => {
    expect(manualTriggerAllowed({ environment: 'production', isDeployment: true })).toBe(false);
    expect(manualTriggerAllowed({ environment: 'production', isDeployment: false })).toBe(true);
    expect(manualTriggerAllowed({ environment: 'development', isDeployment: true })).toBe(true);
  });

  // Requirements: trading-calculator-and-execution-14
  it.each([
    ['production', 'demo', 'disabled', false],
    ['production', 'live', 'disabled', false],
    ['production', 'paper', 'disabled', true],
    ['production', 'demo', 'enabled', true],
    ['production', 'live', 'enabled', true],
    ['development', 'demo', 'disabled', true],
    ['staging', 'paper', 'disabled', true],
  ] as const)(
    'in %s in %s mode, manual orders %s: submitted %s',
    (environment, exchangeMode, manualOrders, allowed) => {
      expect(orderSubmissionAllowed({ environment, exchangeMode, manualOrders })).toBe(allowed);
    },
  );

  // Requirements: trading-workflows-and-eligibility-9
  it('allows test users in the sandbox and regular users in live mode', () => {
    expect(denyWrongMode({ isTestUser: true, mode: 'sandbox' })).toBeNull();
    expect(denyWrongMode({ isTestUser: false, mode: 'live' })).toBeNull();
    expect(denyWrongMode({ isTestUser: true, mode: 'live' })?.code).toBe('test_user_in_live');
    expect(denyWrongMode({ isTestUser: false, mode: 'sandbox' })?.code).toBe('regular_user_in_sandbox');
  });
});
