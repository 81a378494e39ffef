import { Alert, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import type { MAX_PASSKEY_NAME } from '#contract/factors.ts';
import { requestJson, serverMessage } from '../../../lib/api-client.ts';
import { createPasskey, PasskeyError } from '../../../lib/passkeys.ts';
import { Dialog, DialogButtons } from '../../../ui/dialog.tsx';
import { useChange } from '../../../ui/use-change.ts';
import { factorsPath, passkeysPath } from './factors-data.ts';

const LONGEST_NAME: typeof MAX_PASSKEY_NAME = 60;

interface AddPasskeyDialogProps {
  onClose: () => void;
  onEnrolled: () => void;
}

export default function AddPasskeyDialog({ onClose, onEnrolled }: AddPasskeyDialogProps) {
  const [name, setName] = useState('');
  const add = useChange({
    send: async () => {
      const response = await createPasskey(`${passkeysPath}/options`);
      return await requestJson(passkeysPath, { method: 'POST', body: { name: name.trim(), response } });
    },
    done: () => ({ title: 'Passkey Added', message: `'${name.trim()}' now signs you in.` }),
    refresh: [factorsPath],
  });
  const blank = name.trim() === '';
  const close = () => (add.isPending ? undefined : onClose());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (blank || add.isPending) return;
    add.mutate(undefined, {
      onSuccess: () => {
        onClose();
        onEnrolled();
      },
    });
  };
  return (
    <Dialog opened onClose={close} title="Add Passkey">
      <Stack component="form" gap="md" onSubmit={submit}>
        <Text size="sm">Give the passkey a name. Your browser then asks where to save it.</Text>
        {add.error ? (
          <Alert color="red" role="alert">
            {serverMessage(
              add.error,
              add.error instanceof PasskeyError ? add.error.message : 'The passkey was not added',
            )}
          </Alert>
        ) : null}
        <TextInput
          label="Name"
          description="For example the device: 'Laptop', 'Security key'"
          data-autofocus
          maxLength={LONGEST_NAME}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <DialogButtons
          label="Add Passkey"
          pendingLabel="Adding..."
          pending={add.isPending}
          disabled={blank}
          onCancel={close}
        />
      </Stack>
    </Dialog>
  );
}
