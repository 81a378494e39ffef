import { IconAlertTriangle } from '@tabler/icons-react';
import { useReadableInstants } from '#web/ui/use-readable-instants.ts';
import classes from './positions.module.css';

/** Where exchange and record disagree; nothing when they agree. */
export function Differences({ differences }: { differences: readonly string[] }) {
  const readable = useReadableInstants();
  return (
    <ul className={classes.differences} aria-label="Differences">
      {differences.map((difference) => (
        <li key={difference}>
          <IconAlertTriangle size={15} role="img" aria-label="Warning" />
          {readable(difference)}
        </li>
      ))}
    </ul>
  );
}

/** As the note of a row. */
export const differencesNote = ({ differences }: { differences: readonly string[] }) =>
  differences.length === 0 ? null : <Differences differences={differences} />;
