import { formatOriginalTime } from '../lib/original-time.ts';
import { useSession } from '../lib/session.ts';

/** The formatted original time; the tooltip shows the text as received. */
export function OriginalTime({ original }: { original: string | null }) {
  const { displayTimezone } = useSession();
  const shown = formatOriginalTime(original, displayTimezone);
  if (!original || shown === original) return shown;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: its tooltip must be reachable by keyboard
    <span data-tip={original} tabIndex={0}>
      {shown}
    </span>
  );
}
