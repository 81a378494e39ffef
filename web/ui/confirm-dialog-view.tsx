import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';

export interface ConfirmDialogProps {
  title: string;
  children: ReactNode;
  confirmLabel: string;
  pendingLabel?: string;
  pending?: boolean;
  destructive?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export default function ConfirmDialogView(props: ConfirmDialogProps) {
  const { title, children, confirmLabel, pendingLabel, pending = false, destructive = false } = props;
  return (
    <Dialog opened onClose={props.onClose} title={title}>
      <Stack gap="md">
        {children}
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={props.onClose} disabled={pending}>
            Cancel
          </Button>
          <Button {...(destructive ? { color: 'red' } : {})} onClick={props.onConfirm} disabled={pending}>
            {pending ? (pendingLabel ?? confirmLabel) : confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
