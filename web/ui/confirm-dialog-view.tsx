import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog, DialogButtons } from './dialog.tsx';

export interface ConfirmDialogProps {
  title: string;
  children: ReactNode;
  confirmLabel: string;
  pendingLabel?: string;
  pending?: boolean;
  /** There is nothing to confirm. */
  disabled?: boolean;
  destructive?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export default function ConfirmDialogView(props: ConfirmDialogProps) {
  const { title, children, confirmLabel, pendingLabel, pending = false, destructive = false } = props;
  const { disabled = false } = props;
  // Stays open until the answer arrives, to show the result.
  const close = pending ? () => {} : props.onClose;
  return (
    <Dialog opened onClose={close} title={title}>
      <Stack gap="md">
        {children}
        <DialogButtons
          label={confirmLabel}
          pendingLabel={pendingLabel}
          pending={pending}
          disabled={disabled}
          destructive={destructive}
          onCancel={close}
          onConfirm={props.onConfirm}
        />
      </Stack>
    </Dialog>
  );
}
