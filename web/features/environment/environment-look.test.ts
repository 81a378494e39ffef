import { expect, test } from 'vitest';
import type { EnvironmentStatus } from '#contract/environment.ts';
import { environmentBanner, environmentLook } from './environment-look.ts';

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
  timestamp: '2026-11-21T00:00:00Z',
});

test('the badge has five looks', () => {
  expect(environmentLook(status('production', true))).toEqual({ label: 'Live Trading', tone: 'green' });
  expect(environmentLook(status('production', false))).toEqual({ label: 'PROD (Manual)', tone: 'yellow' });
  expect(environmentLook(status('development', false))).toEqual({ label: 'Dev Mode', tone: 'dark-yellow' });
  expect(environmentLook(status('staging', true))).toEqual({ label: 'UNKNOWN', tone: 'red' });
  expect(environmentLook(undefined)).toEqual({ label: 'Loading...', tone: 'grey' });
});

test('the banner never promises live trading outside production', () => {
  expect(environmentBanner(status('production', true)).title).toBe('Live Trading Active');
  expect(environmentBanner(status('production', false)).title).toBe('Production Mode - Manual Only');
  expect(environmentBanner(status('staging', true)).text).toContain('Auto-trading is disabled');
});
