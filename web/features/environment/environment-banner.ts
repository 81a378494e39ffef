import type { EnvironmentStatus } from '#contract/environment.ts';

export interface EnvironmentBanner {
  title: string;
  text: string;
  color: 'teal' | 'yellow' | 'red';
}

export function environmentBanner(status: EnvironmentStatus): EnvironmentBanner {
  if (status.environment === 'production') {
    return status.autoTradeEnabled
      ? {
          title: 'Live Trading Active',
          text: 'The system is processing signals automatically. All safety checks passed.',
          color: 'teal',
        }
      : {
          title: 'Production Mode - Manual Only',
          text: 'Production environment detected, but auto-trading is disabled in configuration.',
          color: 'yellow',
        };
  }
  if (status.environment === 'development') {
    return {
      title: 'Development Mode',
      text: 'Auto-trading is disabled. Only manual triggers work, which prevents conflicts with production systems.',
      color: 'yellow',
    };
  }
  return {
    title: 'Unknown Environment',
    text: 'APP_ENV is neither production nor development. Auto-trading is disabled.',
    color: 'red',
  };
}
