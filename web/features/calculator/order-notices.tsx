import { Alert } from '@mantine/core';
import { IconAlertTriangle, IconRefreshAlert, IconShieldLock, IconShieldX } from '@tabler/icons-react';
import type { SizingMethod } from '#domain/user-settings.ts';
import classes from './calculator.module.css';
import { type SubmitState, submitTip } from './submit-state.ts';

const BANNERS: Partial<Record<SubmitState, { color: string; Icon: typeof IconShieldX; text?: string }>> = {
  'live-mode': { color: 'yellow', Icon: IconShieldLock },
  outdated: { color: 'yellow', Icon: IconRefreshAlert },
  unprotected: {
    color: 'red',
    Icon: IconShieldX,
    text: 'SAFETY RULE: Cannot submit without Stop Loss and Take Profit',
  },
};

interface SafetyBannerProps {
  state: SubmitState;
  /** The method used by the calculation; undefined when this page does not know it. */
  method: SizingMethod | undefined;
}

export function SafetyBanner({ state, method }: SafetyBannerProps) {
  const banner = BANNERS[state];
  if (banner === undefined) return null;
  const { color, Icon, text = submitTip(state, method) } = banner;
  return (
    <Alert color={color} icon={<Icon aria-hidden />}>
      {text}
    </Alert>
  );
}

/** Marks an estimate, so that it is not mistaken for a calculation with real money. */
export function EstimateNotice({ children }: { children?: string }) {
  return (
    <Alert
      color="yellow"
      icon={<IconAlertTriangle aria-hidden />}
      title="ESTIMATE - cannot be submitted"
      className={classes.estimate}
      role="alert"
    >
      {children ??
        'The real account balance could not be read: these figures rest on a fallback balance and are for orientation only.'}
    </Alert>
  );
}
