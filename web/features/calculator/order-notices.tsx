import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import type { SizingMethod } from '#domain/user-settings.ts';
import { Notice } from '../../ui/notice.tsx';
import classes from './calculator.module.css';
import { type SubmitState, submitTip } from './submit-state.ts';

interface SafetyBannerProps {
  state: SubmitState;
  /** The method used by the calculation; undefined when this page does not know it. */
  method: SizingMethod | undefined;
}

export function SafetyBanner({ state, method }: SafetyBannerProps) {
  if (state === 'unprotected') {
    return <Notice look="failure">SAFETY RULE: Cannot submit without Stop Loss and Take Profit</Notice>;
  }
  if (state !== 'live-mode' && state !== 'outdated') return null;
  return <Notice look="warning">{submitTip(state, method)}</Notice>;
}

/** Marks an estimate, so that it is not mistaken for a calculation with real money. */
export function EstimateNotice({ children }: { children?: string }) {
  return (
    <Notice look="warning" title="ESTIMATE - cannot be submitted" className={classes.estimate}>
      {children ??
        'The real account balance could not be read: these figures rest on a fallback balance and are for orientation only.'}
    </Notice>
  );
}

interface OrderTargetProps {
  exchange: string;
  /** Undefined while unknown. */
  mode: ExchangeMode | undefined;
}

/** Where the order goes, and whether it trades real money. */
export function OrderTarget({ exchange, mode }: OrderTargetProps) {
  if (mode === 'live') {
    return <Notice look="failure">The order goes to {exchange} in live mode. Real money is traded.</Notice>;
  }
  if (mode !== 'demo' && mode !== 'paper') return null;
  const place = mode === 'demo' ? `${exchange} in demo mode` : 'the paper exchange';
  return <p className={classes.text}>The order goes to {place}. No real money is traded.</p>;
}
