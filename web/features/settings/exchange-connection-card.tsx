import { Alert, Button, PasswordInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  ConnectionTest,
  ExchangeCredentials,
  SavedExchangeCredentials,
  ConnectionState as State,
} from '#contract/exchange-credentials.ts';
import { EXCHANGE_PLATFORMS, type ExchangePlatform } from '#domain/user-settings.ts';
import { Select } from '#web/forms/select.tsx';
import { useUnsavedChanges } from '#web/forms/unsaved-changes.ts';
import { useForm } from '#web/forms/use-form.ts';
import { requestJson, serverMessage, withParams } from '../../lib/api-client.ts';
import { useFormatInstant } from '../../lib/use-format-instant.ts';
import { settingsPath } from '../../lib/user-paths.ts';
import { Badge, type BadgeTone } from '../../ui/badge.tsx';
import { lazily } from '../../ui/lazily.tsx';
import { Panel } from '../../ui/panel.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { LoadingState } from '../../ui/states.tsx';
import { useChange } from '../../ui/use-change.ts';
import {
  type ConnectionOutcome,
  type CredentialValues,
  credentialErrors,
  credentialsBody,
  EMPTY_CREDENTIALS,
  needsPassphrase,
  outcomeOfSave,
  outcomeOfTest,
  refusedFields,
} from './exchange-connection.ts';
import classes from './settings-screen.module.css';

const ConfirmDialog = lazily(async () => ({
  default: (await import('../../ui/confirm-dialog.tsx')).ConfirmDialog,
}));

interface ConnectionOf {
  userId: string | null;
  exchangePlatform: ExchangePlatform;
}

const credentialsKey = ({ userId, exchangePlatform }: ConnectionOf) =>
  [`${settingsPath(userId)}/exchange-credentials`, { exchangePlatform }] as const;

interface ExchangeConnectionCardProps {
  /** The exchange in the saved settings. */
  savedPlatform: string;
  userId: string | null;
}

export default function ExchangeConnectionCard({ savedPlatform, userId }: ExchangeConnectionCardProps) {
  const tradedOn = EXCHANGE_PLATFORMS.find((platform) => platform === savedPlatform) ?? EXCHANGE_PLATFORMS[0];
  const [exchangePlatform, setExchangePlatform] = useState<ExchangePlatform>(tradedOn);
  const [followed, setFollowed] = useState(tradedOn);
  const [outcome, setOutcome] = useState<ConnectionOutcome | null>(null);
  // Always starts empty, because stored secrets are never returned.
  const form = useForm<CredentialValues>({
    initialValues: EMPTY_CREDENTIALS,
    validate: (values) => credentialErrors(values, exchangePlatform),
  });
  useUnsavedChanges(form.isDirty());
  const connection = { userId, exchangePlatform };
  const credentials = useQuery<ExchangeCredentials>({ queryKey: credentialsKey(connection), gcTime: 0 });
  const choose = (platform: ExchangePlatform) => {
    setExchangePlatform(platform);
    setOutcome(null);
  };
  // Follow the exchange of the saved settings, unless a key is being typed for another one.
  if (tradedOn !== followed) {
    setFollowed(tradedOn);
    if (!form.isDirty()) choose(tradedOn);
  }

  return (
    <Panel
      title="Exchange Connection"
      description="The API key that orders are placed with. Secrets are stored encrypted and never shown again."
    >
      <div className={classes.connection}>
        <QueryView
          query={credentials}
          errorTitle="Failed to fetch the exchange connection"
          loading={<LoadingState isLine />}
        >
          {(data) => <ConnectionState credentials={data} />}
        </QueryView>
        {exchangePlatform === tradedOn ? null : (
          <p className={classes.text} data-quiet>
            Positions are opened on {tradedOn}, the exchange of the saved trading settings.
          </p>
        )}
        {outcome ? (
          <Alert color={outcome.color} title={outcome.title}>
            {outcome.text}
          </Alert>
        ) : null}
        <CredentialsForm
          form={form}
          connection={connection}
          // The state above moves the buttons when it arrives: a press meanwhile would miss them.
          isReady={!credentials.isPending}
          isStored={(credentials.data?.apiKeyHint ?? null) !== null}
          onPlatform={choose}
          onOutcome={setOutcome}
        />
      </div>
    </Panel>
  );
}

const BADGES: Readonly<Record<string, [tone: BadgeTone, text: string]>> = {
  none: ['neutral', 'Not connected'],
  ready: ['success', 'Connected'],
  unverified: ['warning', 'Not verified'],
  rejected: ['failure', 'Rejected'],
  duplicate: ['failure', 'Account in use'],
  'other-mode': ['warning', 'Other mode'],
  unreadable: ['failure', 'Not connected'],
} satisfies Record<State, [tone: BadgeTone, text: string]>;

const REMEDY = '. Enter another key, or test the connection once the exchange takes this one again.';

function ConnectionState({ credentials }: { credentials: ExchangeCredentials }) {
  const formatInstant = useFormatInstant();
  const { exchangePlatform, apiKeyHint, updatedAt, state, problem, accountMode, callingAddresses } =
    credentials;
  const [tone, text] = BADGES[state] ?? ['neutral', 'Not known'];
  return (
    <>
      <p className={classes.connectionState}>
        <strong>{exchangePlatform}</strong>
        <Badge tone={tone}>{text}</Badge>
        {apiKeyHint === null ? (
          <span>No API key is stored for this exchange.</span>
        ) : (
          <span className="numeric">
            API key <span className="mono">{shownHint(apiKeyHint)}</span>, entered {formatInstant(updatedAt)}
            {accountMode === null ? null : `, ${accountMode} account`}
          </span>
        )}
      </p>
      {problem === null ? null : (
        <Alert color={tone === 'failure' ? 'red' : 'yellow'} title="Nothing is traded with this key">
          {problem}
          {state === 'rejected' ? REMEDY : null}
        </Alert>
      )}
      {callingAddresses.length === 0 ? null : (
        <p className={classes.text} data-quiet>
          {exchangePlatform} is called from {listed(callingAddresses)}. An API key that is bound to IP
          addresses has to allow {callingAddresses.length === 1 ? 'it' : 'each of them'}.
        </p>
      )}
      {state === 'unverified' ? (
        <p className={classes.text} data-quiet>
          {exchangePlatform} has not yet said what this key may do and to which account it belongs. Nothing is
          ordered until it has: it is asked when a signal comes, or now by Test Connection.
        </p>
      ) : null}
    </>
  );
}

const listed = (addresses: readonly string[]) =>
  `the ${addresses.length === 1 ? 'address' : 'addresses'} ${new Intl.ListFormat('en').format(addresses)}`;

/** A short key's hint masks every character, so it needs no ellipsis. */
const shownHint = (hint: string) => (hint.startsWith('•') ? hint : `…${hint}`);

interface CredentialsFormProps {
  form: ReturnType<typeof useForm<CredentialValues>>;
  connection: ConnectionOf;
  isReady: boolean;
  isStored: boolean;
  onPlatform: (platform: ExchangePlatform) => void;
  onOutcome: (outcome: ConnectionOutcome | null) => void;
}

const SECRET_FIELDS = [
  { name: 'apiKey', label: 'API key' },
  { name: 'apiSecret', label: 'API secret' },
  { name: 'passphrase', label: 'Passphrase' },
] as const;

const NOT_SAVED = 'Failed to save the exchange connection';
const NOT_REMOVED = 'Failed to remove the exchange connection';
const NOT_TESTED = 'Failed to test the exchange connection';

const NEEDED_RIGHTS: Record<ExchangePlatform, string> = {
  Bitget:
    'The key of a classic account needs the rights to trade futures (orders and positions) and to read spot; that of a unified account, which must be in isolated margin mode, the rights to manage and to trade it.',
  Bybit:
    'The key must belong to a unified trading account, and needs the rights to trade contracts (orders and positions).',
};

function CredentialsForm(props: CredentialsFormProps) {
  const { form, connection, isReady, isStored, onPlatform, onOutcome } = props;
  const { exchangePlatform } = connection;
  const [removing, setRemoving] = useState(false);
  const [path, params] = credentialsKey(connection);
  const refresh = [path];
  // Read the secrets when sending: as mutation variables they would stay in memory.
  const save = useChange({
    send: () =>
      requestJson<SavedExchangeCredentials>(path, {
        method: 'PUT',
        body: credentialsBody(form.getValues(), exchangePlatform),
      }),
    done: (saved) => ({
      title: 'Exchange Connection Saved',
      message: `The API key for ${saved.exchangePlatform} is stored.`,
    }),
    failed: { otherwise: NOT_SAVED },
    refresh,
  });
  const remove = useChange({
    send: () => requestJson(withParams(path, params), { method: 'DELETE' }),
    done: () => ({
      title: 'Exchange Connection Removed',
      message: `The API key for ${exchangePlatform} is deleted.`,
    }),
    failed: { otherwise: NOT_REMOVED },
    refresh,
  });
  // The server stores the result with the key: a refused key is not used for trading, a working one is used again.
  const test = useChange({
    send: () => requestJson<ConnectionTest>(withParams(`${path}/test`, params), { method: 'POST' }),
    failed: { otherwise: NOT_TESTED },
    refresh,
  });
  const pending = save.isPending || remove.isPending || test.isPending;
  const disabled = pending || !isReady;

  const fail = (title: string, otherwise: string) => (error: Error) =>
    onOutcome({ color: 'red', title, text: serverMessage(error, otherwise) });
  const submit = form.onSubmit(() => {
    onOutcome(null);
    save.mutate(undefined, {
      onSuccess: (saved) => {
        form.reset();
        onOutcome(outcomeOfSave(saved));
      },
      onError: (error) => {
        form.setErrors(refusedFields(error));
        fail('Not saved', NOT_SAVED)(error);
      },
    });
  });
  const runTest = () => {
    onOutcome(null);
    test.mutate(undefined, {
      onSuccess: (answer) => onOutcome(outcomeOfTest(answer)),
      onError: fail('Not tested', NOT_TESTED),
    });
  };
  const confirmRemoval = () => {
    onOutcome(null);
    remove.mutate(undefined, {
      onError: fail('Not removed', NOT_REMOVED),
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
          <Button variant="default" disabled={disabled} onClick={() => setRemoving(true)}>
            Remove
          </Button>
        ) : null}
        <Button variant="default" disabled={disabled} onClick={runTest}>
          {test.isPending ? 'Testing...' : 'Test Connection'}
        </Button>
        <Button type="submit" disabled={disabled}>
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
