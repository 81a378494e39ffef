import { PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';

interface PasswordDialogProps {
  title: string;
  text: string;
  confirmLabel: string;
  pendingLabel: string;
  pending: boolean;
  destructive: boolean;
  onConfirm: (password: string) => void;
  onClose: () => void;
}

export function PasswordDialog(props: PasswordDialogProps) {
  const { title, text, confirmLabel, pendingLabel, pending, destructive, onConfirm } = props;
  const [password, setPassword] = useState('');
  const blank = password.trim() === '';
  // Stay open while the password is verified: the answer would still show the key, or renew or delete it.
  const close = () => (pending ? undefined : props.onClose());

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!blank && !pending) onConfirm(password);
  };

  return (
    <Dialog opened onClose={close} title={title}>
      <Stack component="form" gap="md" onSubmit={submit}>
        <Text size="sm">{text}</Text>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          data-autofocus
          value={password}
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <DialogButtons
          label={confirmLabel}
          pendingLabel={pendingLabel}
          pending={pending}
          disabled={blank}
          destructive={destructive}
          onCancel={close}
        />
      </Stack>
    </Dialog>
  );
}
