import { describe, expect, it } from 'vitest';
import {
  autoTradeEnabled,
  autoTradeOff,
  denyWrongMode,
  type ExchangeMode,
  eligibilityMode,
  type ManualOrders,
  manualTriggerAllowed,
  orderSubmissionAllowed,
} from './trading-mode.ts';

describe('trading mode', () => {
  it('paper and demo are the sandbox', () => {
    expect([eligibilityMode('paper'), eligibilityMode('demo'), eligibilityMode('live')]).toEqual([
      'sandbox',
      'sandbox',
      'live',
    ]);
  });

  // Requirements: settings-of-the-program-2
  it('automatic trading needs production and the switch', () => {
    expect(autoTradeEnabled({ appEnv: 'production', autoTrade: 'enabled' })).toBe(true);
    expect(autoTradeEnabled({ appEnv: 'production', autoTrade: 'disabled' })).toBe(false);
    expect(autoTradeEnabled({ appEnv: 'development', autoTrade: 'enabled' })).toBe(false);
    expect(autoTradeEnabled({ appEnv: 'staging', autoTrade: 'enabled' })).toBe(false);
  });

  it('what keeps automatic trading off is told: the switch, or an environment that is not production', () => {
    const [on, off] = [{ enabled: true }, { enabled: false }];
    expect(autoTradeOff({ appEnv: 'production', autoTrade: on })).toBeNull();
    expect(autoTradeOff({ appEnv: 'production', autoTrade: off })?.detail).toContain('AUTO_TRADE');
    expect(autoTradeOff({ appEnv: 'staging', autoTrade: on })?.detail).toBe('in the environment staging');
  });

  // Requirements: trading-roles-2
  it('manual triggers are off only in a production deployment', () => {
    expect(manualTriggerAllowed({ environment: 'production', isDeployment: true })).toBe(false);
    expect(manualTriggerAllowed({ environment: 'production', isDeployment: false })).toBe(true);
    expect(manualTriggerAllowed({ environment: 'development', isDeployment: true })).toBe(true);
  });

  // Requirements: trading-calculator-and-execution-14
  it('orders are submitted by hand in production on paper, or where the operator enabled it', () => {
    const allowed = (
      environment: string,
      exchangeMode: ExchangeMode,
      manualOrders: ManualOrders = 'disabled',
    ) => orderSubmissionAllowed({ environment, exchangeMode, manualOrders });
    expect([allowed('production', 'demo'), allowed('production', 'live')]).toEqual([false, false]);
    expect(allowed('production', 'paper')).toBe(true);
    expect([allowed('production', 'demo', 'enabled'), allowed('production', 'live', 'enabled')]).toEqual([
      true,
      true,
    ]);
    expect([allowed('development', 'demo'), allowed('staging', 'paper')]).toEqual([true, true]);
  });

  // Requirements: trading-workflows-and-eligibility-9
  it('test users belong to the sandbox and regular users to live', () => {
    expect(denyWrongMode({ isTestUser: true, mode: 'sandbox' })).toBeNull();
    expect(denyWrongMode({ isTestUser: false, mode: 'live' })).toBeNull();
    expect(denyWrongMode({ isTestUser: true, mode: 'live' })?.code).toBe('test_user_in_live');
    expect(denyWrongMode({ isTestUser: false, mode: 'sandbox' })?.code).toBe('regular_user_in_sandbox');
  });
});
