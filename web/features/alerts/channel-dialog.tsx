import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { NOTICE_CODES, NOTICES, type NoticeCode, SEVERITIES } from '#contract/notices.ts';
import type { CreatedChannel, NotificationChannel } from '#contract/notification-channels.ts';
import { Select } from '#web/forms/select.tsx';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { capitalise } from '../../lib/format.ts';
import { useSession } from '../../lib/session.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { CopyIcon } from '../../ui/icon-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useChange } from '../../ui/use-change.ts';
import { useCopy } from '../../ui/use-copy.ts';
import classes from './alerts.module.css';
import {
  bodyOf,
  CHANNELS,
  type ChannelForm,
  FIELDS,
  formErrors,
  formOf,
  KIND_LABELS,
  KINDS,
  refusedFields,
} from './channel-form.ts';

const SEVERITY_CHOICES = SEVERITIES.map((severity) => ({
  value: severity,
  label:
    severity === 'info'
      ? 'Everything'
      : severity === 'warning'
        ? 'Warnings and critical ones'
        : 'Critical ones',
}));

/** Creates a channel or changes one. A secret that was made is shown once, in this dialog only. */
export default function ChannelDialog({
  channel,
  onClose,
}: {
  channel: NotificationChannel | null;
  onClose: () => void;
}) {
  const isNew = channel === null;
  const { user } = useSession();
  const [secret, setSecret] = useState<string | null>(null);
  const [codes, setCodes] = useState<readonly NoticeCode[] | null>(channel?.codes ?? null);
  const form = useForm<ChannelForm>({
    initialValues: formOf(channel),
    validate: (values) => formErrors(values, isNew),
    focusError: true,
  });
  const save = useChange<CreatedChannel>({
    send: () =>
      requestJson<CreatedChannel>(isNew ? CHANNELS : `${CHANNELS}/${encodeURIComponent(channel.id)}`, {
        method: isNew ? 'POST' : 'PUT',
        body: bodyOf(form.getValues(), codes),
      }),
    done: ({ name }) => ({ title: isNew ? 'Channel Created' : 'Channel Saved', message: name }),
    failed: { title: 'Failed to Save Channel', otherwise: 'The channel was not saved' },
    refresh: [CHANNELS],
  });
  const areCodesChanged = JSON.stringify(codes) !== JSON.stringify(channel?.codes ?? null);
  const unsaved = secret === null && (form.isDirty() || areCodesChanged);
  const dialog = useFormDialog({ unsaved, pending: save.isPending, onClose });
  const submit = form.onSubmit(() =>
    save.mutate(undefined, {
      onSuccess: (saved) => (saved.secret ? setSecret(saved.secret) : dialog.done()),
      onError: (error) =>
        error instanceof ApiError && form.setErrors(refusedFields(error.body, form.getValues())),
    }),
  );
  const { kind } = form.values;
  if (secret !== null) {
    return (
      // Esc or a click beside it would lose the secret.
      <Dialog opened onClose={dialog.close} title="Channel Created" mustAnswer>
        <SecretView secret={secret} onClose={dialog.close} />
        {dialog.question}
      </Dialog>
    );
  }
  return (
    <Dialog opened onClose={dialog.close} title={isNew ? 'Add Channel' : `Edit ${channel.name}`}>
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Select
            label="Kind"
            data={KINDS.map((value) => ({ value, label: KIND_LABELS[value] }))}
            disabled={!isNew}
            {...form.field('kind')}
          />
          <TextInput label="Name" required autoComplete="off" maxLength={60} {...form.field('name')} />
          {FIELDS[kind].map(({ name, label, hint, secret: isSecret, optional }) => {
            const kept = isNew ? undefined : channel.config[name];
            return (
              <TextInput
                key={`${kind} ${name}`}
                label={label}
                description={hint}
                required={!optional && !(isSecret && !isNew)}
                type={name === 'password' ? 'password' : 'text'}
                autoComplete={name === 'password' ? 'new-password' : 'off'}
                inputMode={name === 'port' ? 'numeric' : undefined}
                placeholder={isSecret && kept !== undefined ? `Unchanged (${kept})` : undefined}
                {...form.field(`config.${name}`)}
              />
            );
          })}
          {kind === 'email' ? (
            <Checkbox
              label="Encrypted from the first byte (port 465)"
              description="Otherwise the connection is encrypted by STARTTLS"
              {...form.checkbox('secure')}
            />
          ) : null}
          {kind === 'telegram' ? (
            <Checkbox
              label="Answers commands from this chat"
              description={
                user.isAdmin
                  ? '/status, /positions, /stop, /flatten, /mute. Everybody in the chat may give them'
                  : '/status and /stop, for your account. Everybody in the chat may give them'
              }
              {...form.checkbox('answers')}
            />
          ) : null}
          <Select label="Sends" data={SEVERITY_CHOICES} {...form.field('minSeverity')} />
          <Codes codes={codes} onChange={setCodes} />
          <Group grow align="flex-start">
            <TextInput
              type="time"
              label="Quiet from"
              description="Critical ones only"
              {...form.field('quietFrom')}
            />
            <TextInput
              type="time"
              label="Quiet until"
              description="Time zone of the screens"
              {...form.field('quietTo')}
            />
          </Group>
          <Checkbox label="Enabled" {...form.checkbox('enabled')} />
          <DialogButtons
            label={isNew ? 'Add channel' : 'Save'}
            pendingLabel="Saving..."
            pending={save.isPending}
            onCancel={dialog.close}
          />
        </Stack>
      </form>
      {dialog.question}
    </Dialog>
  );
}

/** All kinds of notices, or chosen ones. */
function Codes({
  codes,
  onChange,
}: {
  codes: readonly NoticeCode[] | null;
  onChange: (codes: readonly NoticeCode[] | null) => void;
}) {
  const { user } = useSession();
  const offered = NOTICE_CODES.filter((code) => user.isAdmin || NOTICES[code].to === 'user');
  return (
    <div>
      <Checkbox
        label="All kinds of notices"
        checked={codes === null}
        onChange={() => onChange(codes === null ? [] : null)}
      />
      {codes === null ? null : (
        <fieldset className={classes.codes} aria-label="Kinds of notices">
          {offered.map((code) => (
            <Checkbox
              key={code}
              size="xs"
              label={capitalise(code.replaceAll('_', ' '))}
              checked={codes.includes(code)}
              onChange={() => onChange(NOTICE_CODES.filter((one) => codes.includes(one) !== (one === code)))}
            />
          ))}
        </fieldset>
      )}
    </div>
  );
}

function SecretView({ secret, onClose }: { secret: string; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const { copied, copy } = useCopy({ title: 'Copied', message: 'The secret was copied to the clipboard' });
  // The button that had the focus is gone.
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  return (
    <Stack gap="md">
      <Notice look="warning" title="Copy the secret now">
        It cannot be shown again. Your receiver checks the signature of every message with it.
      </Notice>
      <TextInput
        ref={field}
        label="Secret"
        value={secret}
        readOnly
        classNames={{ input: 'mono' }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Group justify="flex-end" gap="sm">
        <Button
          variant="default"
          leftSection={<CopyIcon copied={copied} />}
          onClick={() => void copy(secret)}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
