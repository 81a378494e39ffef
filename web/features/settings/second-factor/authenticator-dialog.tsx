import { Alert, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { requestJson, serverMessage } from '../../../lib/api-client.ts';
import { Dialog, DialogButtons } from '../../../ui/dialog.tsx';
import { CopyButton } from '../../../ui/icon-button.tsx';
import { factorsPath, totpPath } from './factors-data.ts';
import { RecoveryCodes } from './recovery-codes.tsx';
import classes from './second-factor.module.css';

interface AuthenticatorDialogProps {
  setup: { secret: string; qrSvg: string };
  onClose: () => void;
  onEnrolled: () => void;
}

/** The QR code and the first code of the app, then the recovery codes. */
export default function AuthenticatorDialog({ setup, onClose, onEnrolled }: AuthenticatorDialogProps) {
  const client = useQueryClient();
  const [code, setCode] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const confirm = useMutation({
    mutationFn: () =>
      requestJson<{ recoveryCodes: string[] }>(`${totpPath}/confirm`, {
        method: 'POST',
        body: { code: code.trim() },
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: [factorsPath] }),
    onError: () => field.current?.select(),
    // Do not keep the recovery codes in memory after the dialog closes.
    gcTime: 0,
  });
  const blank = code.trim() === '';
  const close = () => (confirm.isPending ? undefined : onClose());
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!blank && !confirm.isPending) confirm.mutate();
  };

  if (confirm.data) {
    const done = () => {
      onClose();
      onEnrolled();
    };
    return (
      <Dialog opened onClose={done} title="Save Your Recovery Codes" mustAnswer>
        <RecoveryCodes codes={confirm.data.recoveryCodes} onSaved={done} />
      </Dialog>
    );
  }
  return (
    <Dialog opened onClose={close} title="Set Up Authenticator App">
      <Stack component="form" gap="md" onSubmit={submit}>
        <Text size="sm">Scan the QR code with your authenticator app, or enter the secret there.</Text>
        <QrCode svg={setup.qrSvg} />
        <p className={classes.secret}>
          <span>
            Secret <span className="mono">{setup.secret}</span>
          </span>
          <CopyButton value={setup.secret} label="Copy the secret" done={{ title: 'Copied!' }} />
        </p>
        {confirm.error ? (
          <Alert color="red" role="alert">
            {serverMessage(confirm.error, 'The code could not be checked')}
          </Alert>
        ) : null}
        <TextInput
          ref={field}
          label="Code"
          description="The six digits that the app shows now"
          autoComplete="one-time-code"
          inputMode="numeric"
          data-autofocus
          aria-invalid={confirm.isError}
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <DialogButtons
          label="Turn On"
          pendingLabel="Verifying..."
          pending={confirm.isPending}
          disabled={blank}
          onCancel={close}
        />
      </Stack>
    </Dialog>
  );
}

/** As an image, in which nothing of the SVG can run. */
const QrCode = ({ svg }: { svg: string }) => (
  <img
    className={classes.qr}
    src={`data:image/svg+xml,${encodeURIComponent(svg)}`}
    alt="QR code with the secret for the authenticator app"
    width={200}
    height={200}
  />
);
