import { IconCheck, IconCopy } from '@tabler/icons-react';
import { shortId } from '../../lib/format.ts';
import { useCopy } from '../../lib/use-copy.ts';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import classes from './users-table.module.css';

/** The users table shortens ids of 8 or more characters. */
const SHORT_FROM = 8;

/** A click copies the whole id. */
export function UserId({ id }: { id: string }) {
  const { copied, copy } = useCopy();
  const onClick = async () => {
    if (await copy(id)) toastSuccess({ title: 'Copied!', message: 'User ID copied to clipboard.' });
    else toastError({ title: 'Error', message: 'Failed to copy to clipboard' });
  };
  return (
    <button
      type="button"
      className={classes.id}
      data-tip={copied ? 'Copied' : `${id}, click to copy`}
      aria-label={`${shortId(id, SHORT_FROM)}, copy user ID`}
      onClick={() => void onClick()}
    >
      <span className="mono">{shortId(id, SHORT_FROM)}</span>
      {copied ? (
        <IconCheck size={13} className={classes.copyIcon} aria-hidden />
      ) : (
        <IconCopy size={13} className={classes.copyIcon} aria-hidden />
      )}
    </button>
  );
}
