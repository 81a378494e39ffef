import { IconPlugConnectedX } from '@tabler/icons-react';
import type { PositionsAnswer } from '#contract/positions.ts';
import classes from './positions.module.css';

/** What is not shown has to be said: these accounts may hold positions. */
export function UnreachableAccounts({ accounts }: { accounts: PositionsAnswer['unreachable'] }) {
  if (accounts.length === 0) return null;
  return (
    <div className={classes.unreachable} role="status">
      <IconPlugConnectedX size={18} aria-hidden />
      <div>
        <strong>
          {accounts.length === 1
            ? '1 account could not be read in full.'
            : `${accounts.length} accounts could not be read in full.`}
        </strong>{' '}
        Open positions are missing below and in the totals:
        <ul>
          {accounts.map(({ userId, username, message }) => (
            <li key={`${userId} ${message}`}>
              {username}: {message}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
