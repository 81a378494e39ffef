import { toastError, toastSuccess } from '../../ui/toast.ts';

const RATE_LIMIT_TOAST_MS = 5_000;
const REASSURANCE = 'Fallback calculations use the real account balance, and results remain accurate.';

/** `failure`: what failed for it, in a sentence. */
export function announceRateLimit(failure?: string): void {
  const show = failure === undefined ? toastSuccess : toastError;
  show({
    title: 'Rate Limiting Detected',
    message: failure === undefined ? REASSURANCE : `${failure} ${REASSURANCE}`,
    durationMs: RATE_LIMIT_TOAST_MS,
  });
}
