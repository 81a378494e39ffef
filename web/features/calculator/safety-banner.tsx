import { Alert } from '@mantine/core';
import { IconShieldLock, IconShieldX } from '@tabler/icons-react';
import { LIVE_MODE_TEXT, type SubmitState } from './submit-state.ts';

export function SafetyBanner({ state }: { state: SubmitState }) {
  if (state === 'live-mode') {
    return (
      <Alert color="yellow" icon={<IconShieldLock aria-hidden />}>
        {LIVE_MODE_TEXT}
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
