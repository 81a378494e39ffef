import { Button, PasswordInput } from '@mantine/core';
import { useState } from 'react';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { Select } from '#web/forms/select.tsx';
import { serverMessage } from '../../lib/api-client.ts';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { toastError, toastSuccess } from '../../ui/toast.ts';
import { type ConnectionOutcome, outcomeOfSave, outcomeOfTest } from './connection-outcome.ts';
import { credentialsBody, needsPassphrase, refusedFields } from './credential-rules.ts';
import {
  type ConnectionOf,
  useRemoveCredentials,
  useSaveCredentials,
  useTestConnection,
} from './exchange-credentials.ts';
import classes from './settings-screen.module.css';
import type { CredentialsFormState } from './use-credentials-form.ts';

interface CredentialsFormProps {
  form: CredentialsFormState;
  connection: ConnectionOf;
  isStored: boolean;
  onPlatform: (platform: ExchangePlatform) => void;
  onOutcome: (outcome: ConnectionOutcome | null) => void;
}

const SECRET_FIELDS = [
  { name: 'apiKey', label: 'API key' },
  { name: 'apiSecret', label: 'API secret' },
  { name: 'passphrase', label: 'Passphrase' },
] as const;

const NEEDED_RIGHTS: Record<ExchangePlatform, string> = {
  Bitget:
    'The key must belong to a classic account, and needs the rights to trade futures (orders and positions) and to read spot.',
  Bybit:
    'The key must belong to a unified trading account, and needs the rights to trade contracts (orders and positions).',
};

export function CredentialsForm(props: CredentialsFormProps) {
  const { form, connection, isStored, onPlatform, onOutcome } = props;
  const { exchangePlatform } = connection;
  const [removing, setRemoving] = useState(false);
  const save = useSaveCredentials(connection, () => credentialsBody(form.getValues(), exchangePlatform));
  const remove = useRemoveCredentials(connection);
  const test = useTestConnection(connection);
  const pending = save.isPending || remove.isPending || test.isPending;

  const fail = (title: string, otherwise: string) => (error: Error) => {
    const text = serverMessage(error, otherwise);
    onOutcome({ color: 'red', title, text });
    toastError({ title: 'Error', message: text });
  };
  const submit = form.onSubmit(() => {
    onOutcome(null);
    save.mutate(undefined, {
      onSuccess: (saved) => {
        form.reset();
        onOutcome(outcomeOfSave(saved));
        toastSuccess({
          title: 'Exchange Connection Saved',
          message: `The API key for ${saved.exchangePlatform} is stored.`,
        });
      },
      onError: (error) => {
        form.setErrors(refusedFields(error));
        fail('Not saved', 'Failed to save the exchange connection')(error);
      },
    });
  });
  const runTest = () => {
    onOutcome(null);
    test.mutate(undefined, {
      onSuccess: (answer) => onOutcome(outcomeOfTest(answer)),
      onError: fail('Not tested', 'Failed to test the exchange connection'),
    });
  };
  const confirmRemoval = () => {
    onOutcome(null);
    remove.mutate(undefined, {
      onSuccess: () =>
        toastSuccess({
          title: 'Exchange Connection Removed',
          message: `The API key for ${exchangePlatform} is deleted.`,
        }),
      onError: fail('Not removed', 'Failed to remove the exchange connection'),
      onSettled: () => setRemoving(false),
    });
  };

  return (
    <form onSubmit={submit} noValidate autoComplete="off" className={classes.form}>
      <Select
        label="Exchange"
        data={[...EXCHANGE_PLATFORMS]}
        value={exchangePlatform}
        disabled={pending}
        onChange={(event) => {
          const platform = EXCHANGE_PLATFORMS.find((name) => name === event.currentTarget.value);
          if (platform) onPlatform(platform);
        }}
      />
      {SECRET_FIELDS.map(({ name, label }) =>
        name === 'passphrase' && !needsPassphrase(exchangePlatform) ? null : (
          <PasswordInput
            key={name}
            className={classes.top}
            label={label}
            autoComplete="off"
            spellCheck={false}
            visibilityToggleButtonProps={{ 'aria-label': `Show or hide the ${label}` }}
            {...form.field(name)}
          />
        ),
      )}
      <p className={`${classes.text} ${classes.wide}`} data-quiet>
        {NEEDED_RIGHTS[exchangePlatform]} Never enter one that may withdraw.
      </p>
      <div className={classes.buttons}>
        {isStored ? (
          <Button variant="default" disabled={pending} onClick={() => setRemoving(true)}>
            Remove
          </Button>
        ) : null}
        <Button variant="default" disabled={pending} onClick={runTest}>
          {test.isPending ? 'Testing...' : 'Test Connection'}
        </Button>
        <Button type="submit" disabled={pending}>
          {save.isPending ? 'Saving...' : 'Save Connection'}
        </Button>
      </div>
      <ConfirmDialog
        opened={removing}
        title="Remove Exchange Connection"
        confirmLabel="Remove"
        pendingLabel="Removing..."
        pending={remove.isPending}
        destructive
        onConfirm={confirmRemoval}
        onClose={() => setRemoving(false)}
      >
        <p className={classes.text}>
          The API key for {exchangePlatform} is deleted. Outside of paper mode nothing is traded there until a
          new one is entered.
        </p>
      </ConfirmDialog>
    </form>
  );
}
