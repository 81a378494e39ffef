import type { EnvironmentStatus } from '#contract/environment.ts';

interface EnvironmentBanner {
  title: string;
  text: string;
  look: 'success' | 'warning' | 'failure';
}

export function environmentBanner({ environment, autoTradeEnabled }: EnvironmentStatus): EnvironmentBanner {
  if (environment === 'production' && autoTradeEnabled) {
    return {
      title: 'Live Trading Active',
      text: 'The system is processing signals automatically. All safety checks passed.',
      look: 'success',
    };
  }
  if (environment === 'production') {
    return {
      title: 'Production Mode - Manual Only',
      text: 'Production environment detected, but auto-trading is disabled in configuration.',
      look: 'warning',
    };
  }
  if (environment === 'development') {
    return {
      title: 'Development Mode',
      text: 'Auto-trading is disabled. Only manual triggers work, which prevents conflicts with production systems.',
      look: 'warning',
    };
  }
  return {
    title: 'Unknown Environment',
    text: 'APP_ENV is neither production nor development. Auto-trading is disabled.',
    look: 'failure',
  };
}
