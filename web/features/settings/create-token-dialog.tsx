import { Button, Checkbox, Group, Input, Stack, TextInput } from '@mantine/core';
import { useEffect, useId, useRef, useState } from 'react';
import type { CreatedToken, CreateTokenBody } from '#contract/tokens.ts';
import { Select } from '#web/forms/select.tsx';
import { useForm } from '#web/forms/use-form.ts';
import { useFormDialog } from '#web/forms/use-form-dialog.tsx';
import { ApiError, requestJson } from '../../lib/api-client.ts';
import { useSession } from '../../lib/session.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import { CopyIcon } from '../../ui/icon-button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { useChange } from '../../ui/use-change.ts';
import { useCopy } from '../../ui/use-copy.ts';
import {
  EMPTY_NEW_TOKEN,
  EXPIRY_CHOICES,
  MAX_NAME,
  type NewToken,
  newTokenBody,
  newTokenErrors,
  refusedFields,
  SCOPE_TEXTS,
  scopesFor,
  toggled,
  tokensPath,
} from './new-token.ts';

/** Only this dialog has the token, so that closing it forgets the token. */
export default function CreateTokenDialog({ onClose }: { onClose: () => void }) {
  const [token, setToken] = useState<string | null>(null);
  // The answer is kept in the dialog's state, not in the mutation, which outlives it.
  const create = useChange({
    send: async (body: CreateTokenBody) =>
      setToken((await requestJson<CreatedToken>(tokensPath, { method: 'POST', body })).token),
    failed: { title: 'Failed to Create Token', otherwise: 'The token was not created' },
    refresh: [tokensPath],
  });
  const form = useForm<NewToken>({
    initialValues: EMPTY_NEW_TOKEN,
    validate: newTokenErrors,
    focusError: true,
  });
  const unsaved = token === null && form.isDirty();
  const dialog = useFormDialog({ unsaved, pending: create.isPending, onClose });
  const submit = form.onSubmit((values) =>
    create.mutate(newTokenBody(values, Date.now()), {
      onError: (error) => error instanceof ApiError && form.setErrors(refusedFields(error.body)),
    }),
  );
  return (
    <Dialog
      opened
      onClose={dialog.close}
      title={token === null ? 'Create API Token' : 'API Token Created'}
      // Esc or a click beside it would lose the token.
      mustAnswer={Boolean(token)}
    >
      {token === null ? (
        <form onSubmit={submit} noValidate>
          <Stack gap="md">
            <TextInput
              label="Name"
              description="What uses the token, such as a script"
              required
              autoComplete="off"
              data-autofocus
              maxLength={MAX_NAME}
              {...form.field('name')}
            />
            <Scopes
              scopes={form.values.scopes}
              error={form.field('scopes').error}
              onChange={(scopes) => form.setValues({ scopes })}
            />
            <Select label="Expires" data={EXPIRY_CHOICES} {...form.field('expiry')} />
            <DialogButtons
              label="Create token"
              pendingLabel="Creating..."
              pending={create.isPending}
              onCancel={dialog.close}
            />
          </Stack>
        </form>
      ) : (
        <CreatedTokenView token={token} onClose={dialog.close} />
      )}
      {dialog.question}
    </Dialog>
  );
}

interface ScopesProps {
  scopes: NewToken['scopes'];
  error: string | undefined;
  onChange: (scopes: NewToken['scopes']) => void;
}

function Scopes({ scopes, error, onChange }: ScopesProps) {
  const { user } = useSession();
  const id = useId();
  return (
    <Input.Wrapper
      id={id}
      labelElement="div"
      label="Scopes"
      description="None includes another. No token manages tokens, second factors, webhooks or exchange keys."
      error={error}
    >
      <Stack
        role="group"
        gap="xs"
        my="xs"
        aria-labelledby={`${id}-label`}
        aria-describedby={`${id}-description${error ? ` ${id}-error` : ''}`}
      >
        {scopesFor(user.isAdmin).map((scope) => (
          <Checkbox
            key={scope}
            data-field="scopes"
            {...SCOPE_TEXTS[scope]}
            checked={scopes.includes(scope)}
            onChange={() => onChange(toggled(scopes, scope))}
          />
        ))}
      </Stack>
    </Input.Wrapper>
  );
}

function CreatedTokenView({ token, onClose }: { token: string; onClose: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const { copied, copy } = useCopy({ title: 'Copied', message: 'The token was copied to the clipboard' });
  // The button that had the focus is gone.
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, []);
  if (token === '') {
    return (
      <Notice look="failure" title="The token cannot be shown">
        It was created, but the answer of the server lacks it. Delete it and create another.
      </Notice>
    );
  }
  return (
    <Stack gap="md">
      <Notice look="warning" title="Copy the token now">
        It cannot be shown again.
      </Notice>
      <TextInput
        ref={field}
        label="Token"
        value={token}
        readOnly
        classNames={{ input: 'mono' }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <Group justify="flex-end" gap="sm">
        <Button variant="default" leftSection={<CopyIcon copied={copied} />} onClick={() => void copy(token)}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  );
}
