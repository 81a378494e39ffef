import { useCallback } from 'react';
import { formatInstant } from './format.ts';
import { useSession } from './session.ts';

/** Formats an instant in this installation's display time zone. */
export function useFormatInstant(): (instant: string | null | undefined) => string {
  const { displayTimezone } = useSession();
  return useCallback((instant) => formatInstant(instant, displayTimezone), [displayTimezone]);
}
