import { Alert } from '@mantine/core';
import { IconRefreshAlert, IconShieldLock, IconShieldX } from '@tabler/icons-react';
import type { SizingMethod } from '#domain/user-settings.ts';
import { LIVE_MODE_TEXT, outdatedText, type SubmitState } from './submit-state.ts';

interface SafetyBannerProps {
  state: SubmitState;
  /** The method that was calculated with; undefined when the page does not know it. */
  method: SizingMethod | undefined;
}

export function SafetyBanner({ state, method }: SafetyBannerProps) {
  if (state === 'live-mode') {
    return (
      <Alert color="yellow" icon={<IconShieldLock aria-hidden />}>
        {LIVE_MODE_TEXT}
      </Alert>
    );
  }
  if (state === 'outdated') {
    return (
      <Alert color="yellow" icon={<IconRefreshAlert aria-hidden />}>
        {outdatedText(method)}
      </Alert>
    );
  }
  if (state !== 'unprotected') return null;
  return (
    <Alert color="red" icon={<IconShieldX aria-hidden />}>
      SAFETY RULE: Cannot submit without Stop Loss and Take Profit
    </Alert>
  );
}
