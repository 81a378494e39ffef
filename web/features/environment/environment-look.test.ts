import { expect, test } from 'vitest';
import type { EnvironmentStatus } from '#contract/environment.ts';
import { environmentBanner } from './environment-banner.ts';
import { EXCHANGE_MODES, environmentLook, environmentTip } from './environment-look.ts';

const status = (environment: string, autoTradeEnabled: boolean): EnvironmentStatus => ({
  environment,
  nodeEnv: 'production',
  isDeployment: false,
  isProduction: environment === 'production',
  autoTradeEnabled,
  autoTradeConfigured: true,
  canProcessSignals: true,
  serverInstanceId: 'instance',
  hasDeploymentId: false,
  exchangeMode: 'paper',
  manualOrders: 'disabled',
  timestamp: '2026-11-21T00:00:00Z',
});

// Requirements: accounts-fields-12, accounts-states-14, accounts-states-15
test('gives the badge five looks', () => {
  expect(environmentLook(status('production', true))).toEqual({ label: 'Live Trading', tone: 'green' });
  expect(environmentLook(status('production', false))).toEqual({ label: 'PROD (Manual)', tone: 'yellow' });
  expect(environmentLook(status('development', false))).toEqual({ label: 'Dev Mode', tone: 'dark-yellow' });
  expect(environmentLook(status('staging', true))).toEqual({ label: 'UNKNOWN', tone: 'red' });
  expect(environmentLook(undefined)).toEqual({ label: 'Loading...', tone: 'grey' });
});

test('never promises live trading outside production in the banner', () => {
  expect(environmentBanner(status('production', true)).title).toBe('Live Trading Active');
  expect(environmentBanner(status('production', false)).title).toBe('Production Mode - Manual Only');
  expect(environmentBanner(status('staging', true)).text).toContain('Auto-trading is disabled');
});

// Requirements: screens-environment-4
test('shows environment, automatic trading and exchange mode in the tooltip', () => {
  expect(environmentTip(status('production', true), false).split('\n')).toEqual([
    'Environment: PRODUCTION',
    'Auto-Trade: ENABLED',
    'Exchange Mode: Paper',
    'Click for detailed information',
  ]);
});

test('keeps the last status in the tooltip when a refresh fails, and reports the failure', () => {
  expect(environmentTip(status('development', false), true).split('\n')).toEqual([
    'Environment: DEVELOPMENT',
    'Auto-Trade: DISABLED',
    'Exchange Mode: Paper',
    'Failed to fetch environment status',
    'Click for detailed information',
  ]);
  expect(environmentTip(undefined, true).split('\n')).toEqual([
    'Failed to fetch environment status',
    'Click for detailed information',
  ]);
});

// Requirements: screens-environment-5
test('mentions real money in live mode only', () => {
  const texts = Object.entries(EXCHANGE_MODES).filter(([, { text }]) => !text.includes('No real money'));
  expect(texts).toEqual([
    ['live', { label: 'Live', text: 'Orders go to the exchange. Real money is traded.' }],
  ]);
});
