import { type Denial, deny } from '../workflow/denials.ts';

export type ExchangeMode = 'paper' | 'demo' | 'live';
/** The setting MANUAL_ORDERS. */
export type ManualOrders = 'enabled' | 'disabled';
export type EligibilityMode = 'sandbox' | 'live';

/** Paper and demo trade no real money: both are the sandbox. */
export function eligibilityMode(exchangeMode: ExchangeMode): EligibilityMode {
  return exchangeMode === 'live' ? 'live' : 'sandbox';
}

/** Automatic execution needs a production environment and the switch. */
export function autoTradeEnabled(settings: { appEnv: string; autoTrade: 'enabled' | 'disabled' }): boolean {
  return settings.appEnv === 'production' && settings.autoTrade === 'enabled';
}

/** Why nothing is executed automatically, as the end of a denial's sentence; null when automatic execution is on. */
export function autoTradeOff({
  appEnv,
  autoTrade,
}: {
  appEnv: string;
  autoTrade: { enabled: boolean };
}): { detail: string } | null {
  if (autoTradeEnabled({ appEnv, autoTrade: autoTrade.enabled ? 'enabled' : 'disabled' })) return null;
  const isProduction = appEnv === 'production';
  return { detail: isProduction ? 'in the configuration (AUTO_TRADE)' : `in the environment ${appEnv}` };
}

/** Manual triggers and retries are off in a production deployment. */
export function manualTriggerAllowed(state: { environment: string; isDeployment: boolean }): boolean {
  return !(state.environment === 'production' && state.isDeployment);
}

/**
 * Whether a calculated order may be submitted by hand: always on paper, since no money moves; in production with demo or
 * live trading only if the operator enabled it.
 */
export function orderSubmissionAllowed(state: {
  environment: string;
  exchangeMode: ExchangeMode;
  manualOrders: ManualOrders;
}): boolean {
  const { environment, exchangeMode, manualOrders } = state;
  return environment !== 'production' || exchangeMode === 'paper' || manualOrders === 'enabled';
}

/** Test users trade only in the sandbox, regular users (including administrators) only live. */
export function denyWrongMode(user: { isTestUser: boolean; mode: EligibilityMode }): Denial | null {
  if (user.mode === 'live') return user.isTestUser ? deny('test_user_in_live', {}) : null;
  return user.isTestUser ? null : deny('regular_user_in_sandbox', {});
}
