import { PasswordInput, Stack, Text } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';

interface PasswordDialogProps {
  opened: boolean;
  title: string;
  text: string;
  confirmLabel: string;
  pendingLabel: string;
  pending: boolean;
  destructive?: boolean;
  onConfirm: (password: string) => void;
  onClose: () => void;
}

export function PasswordDialog({ opened, title, onClose, ...form }: PasswordDialogProps) {
  // Stay open while the password is verified: the answer would still show the key, or renew or delete it.
  const close = () => (form.pending ? undefined : onClose());
  return (
    <Dialog opened={opened} onClose={close} title={title}>
      <PasswordForm {...form} onClose={close} />
    </Dialog>
  );
}

type PasswordFormProps = Omit<PasswordDialogProps, 'opened' | 'title'>;

function PasswordForm(props: PasswordFormProps) {
  const { text, confirmLabel, pendingLabel, pending, destructive = false, onConfirm, onClose } = props;
  const [password, setPassword] = useState('');
  const blank = password.trim() === '';

  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!blank && !pending) onConfirm(password);
  };

  return (
    <form onSubmit={submit}>
      <Stack gap="md">
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
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
