import { useCallback } from 'react';
import { formatInstant } from './format.ts';
import { useSession } from './session.ts';

/** Shows an instant in the display time zone of this installation. */
export function useFormatInstant(): (instant: string | null | undefined) => string {
  const { displayTimezone } = useSession();
  return useCallback((instant) => formatInstant(instant, displayTimezone), [displayTimezone]);
}
