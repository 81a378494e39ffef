import type { EnvironmentStatus } from '#contract/environment.ts';

interface EnvironmentLook {
  label: string;
  tone: 'green' | 'yellow' | 'dark-yellow' | 'red' | 'grey';
}

export function environmentLook(status: EnvironmentStatus | undefined): EnvironmentLook {
  if (!status) return { label: 'Loading...', tone: 'grey' };
  if (status.environment === 'production') {
    return status.autoTradeEnabled
      ? { label: 'Live Trading', tone: 'green' }
      : { label: 'PROD (Manual)', tone: 'yellow' };
  }
  if (status.environment === 'development') return { label: 'Dev Mode', tone: 'dark-yellow' };
  return { label: 'UNKNOWN', tone: 'red' };
}

export const environmentName = (environment: string): string =>
  environment === 'production' || environment === 'development' ? environment.toUpperCase() : 'UNKNOWN';

/** Automatic trading is called 'Live Trading' in every mode; this says whether the money is real. */
export const EXCHANGE_MODES = {
  paper: { label: 'Paper', text: 'Orders go to the built-in paper exchange. No real money is traded.' },
  demo: { label: 'Demo', text: "Orders go to the exchange's own demo trading. No real money is traded." },
  live: { label: 'Live', text: 'Orders go to the exchange. Real money is traded.' },
} as const satisfies Record<EnvironmentStatus['exchangeMode'], { label: string; text: string }>;

/** Also handles a missing or unknown mode. */
export const exchangeModeLook = (mode: string): { label: string; text: string } =>
  Object.hasOwn(EXCHANGE_MODES, mode)
    ? EXCHANGE_MODES[mode as EnvironmentStatus['exchangeMode']]
    : { label: 'Unknown', text: 'The server does not say where orders go.' };

/** Keeps the last status and adds a failed refresh. */
export function environmentTip(status: EnvironmentStatus | undefined, failed: boolean): string {
  const known = status && [
    `Environment: ${environmentName(status.environment)}`,
    `Auto-Trade: ${status.autoTradeEnabled ? 'ENABLED' : 'DISABLED'}`,
    `Exchange Mode: ${exchangeModeLook(status.exchangeMode).label}`,
  ];
  return [
    ...(known ?? (failed ? [] : ['Loading...'])),
    ...(failed ? ['Failed to fetch environment status'] : []),
    'Click for detailed information',
  ].join('\n');
}
