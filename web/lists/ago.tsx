import { formatAgo, useNow } from '../lib/ago.ts';
import { useSession } from '../lib/session.ts';
import { useFormatInstant } from '../lib/use-format-instant.ts';

/** How long ago it was, with the time and its zone as a tooltip; the time itself where it is long ago. */
export function Ago({ instant }: { instant: string | null }) {
  const formatInstant = useFormatInstant();
  const { displayTimezone } = useSession();
  const text = useNow((nowMs) => formatAgo(instant, nowMs));
  const at = formatInstant(instant);
  if (text === null) return at;
  return (
    <time dateTime={instant ?? undefined} data-tip={`${at} ${displayTimezone}`}>
      {text}
    </time>
  );
}
