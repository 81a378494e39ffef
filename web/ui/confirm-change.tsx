import { Alert } from '@mantine/core';
import type { ReactNode } from 'react';
import { serverMessage } from '../lib/api-client.ts';
import { ConfirmDialog } from './confirm-dialog.tsx';
import type { ConfirmDialogProps } from './confirm-dialog-view.tsx';
import { type ChangeOptions, useChange } from './use-change.ts';

type ConfirmChangeProps<Answer> = ChangeOptions<Answer> &
  Omit<ConfirmDialogProps, 'pending' | 'onConfirm' | 'children'> & {
    children: ReactNode | ((state: { pending: boolean }) => ReactNode);
  };

/** Asks before a change. Closes after its success, and stays open with the reason after a failure. */
export function ConfirmChange<Answer>(props: ConfirmChangeProps<Answer>) {
  const { send, done, failed, refresh, children, ...dialog } = props;
  const change = useChange<Answer>(props);
  return (
    <ConfirmDialog
      opened
      {...dialog}
      pending={change.isPending}
      onConfirm={() => change.mutate(undefined, { onSuccess: dialog.onClose })}
    >
      {typeof children === 'function' ? children({ pending: change.isPending }) : children}
      {change.error ? (
        <Alert color="red" title={failed?.title ?? 'Error'} role="alert">
          {serverMessage(change.error, failed?.otherwise ?? change.error.message)}
        </Alert>
      ) : null}
    </ConfirmDialog>
  );
}
