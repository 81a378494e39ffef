import { Button, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { useState } from 'react';
import type { HiddenPositionView, PositionsAnswer } from '#contract/positions.ts';
import { requestJson } from '../../lib/api-client.ts';
import { formatQuantity } from '../../lib/figures.ts';
import { ConfirmChange } from '../../ui/confirm-change.tsx';
import classes from './positions.module.css';
import { positionsPath } from './positions-data.ts';

/** Accounts that may hold positions missing from the screen. A position no account can show may be written off. */
export default function UnreachableAccounts({ accounts }: { accounts: PositionsAnswer['unreachable'] }) {
  const [asked, setAsked] = useState<(HiddenPositionView & { username: string }) | null>(null);
  if (accounts.length === 0 && asked === null) return null;
  return (
    <>
      {accounts.length === 0 ? null : (
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
              {accounts.map(({ userId, username, message, hidden }) => (
                <li key={`${userId} ${message}`}>
                  {username}: {message}
                  {hidden.length === 0 ? null : (
                    <span className={classes.hidden}>
                      {hidden.map((position) => (
                        <Button
                          key={position.tradeId}
                          size="compact-xs"
                          variant="default"
                          onClick={() => setAsked({ ...position, username })}
                        >
                          Write Off: {position.side} {formatQuantity(position.quantity)} {position.token}
                        </Button>
                      ))}
                    </span>
                  )}
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
      {asked === null ? null : (
        <ConfirmChange
          title="Write Off Position"
          confirmLabel="Write Off"
          destructive
          send={() =>
            requestJson<{ message: string }>(`${positionsPath}/write-off`, {
              method: 'POST',
              body: { tradeId: asked.tradeId },
            })
          }
          done={({ message }) => ({ title: 'Position Written Off', message })}
          failed={{ title: 'Not written off', otherwise: 'Failed to write the position off' }}
          refresh={[positionsPath]}
          onClose={() => setAsked(null)}
        >
          <Text size="sm">
            No connected account can show whether the {asked.side} position of {asked.username} in{' '}
            {asked.token} is still open. Look at the account on {asked.exchangePlatform} first: written off,
            it is not watched any more, and nothing here will close it or look after its stop loss.
          </Text>
          <Text size="sm">
            It counts as ended, with your name and without a profit, and does not keep signals away any more.
          </Text>
        </ConfirmChange>
      )}
    </>
  );
}
