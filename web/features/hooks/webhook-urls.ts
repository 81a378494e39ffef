import type { Webhook } from '#contract/hooks.ts';

/** The URL the charting platform posts signals to: page origin, inbound path and key. */
export const signalUrl = (origin: string, hookKey: string): string =>
  `${origin}/hooks/trading_view_signal?hkid=${hookKey}`;

export const priceUrl = (origin: string, hookKey: string): string =>
  `${origin}/hooks/trading_view_candler?hkid=${hookKey}`;

const VISIBLE_CHARACTERS = 4;

/** Same mask as the server's: the first four characters and an ellipsis. */
export const maskKey = (hookKey: string): string =>
  hookKey.endsWith('…') ? hookKey : `${hookKey.slice(0, VISIBLE_CHARACTERS)}…`;

export const masked = (hook: Webhook): Webhook => ({
  ...hook,
  hookKey: maskKey(hook.hookKey),
  masked: true,
});
