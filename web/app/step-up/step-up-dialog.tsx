import { Alert, Button, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ChangeEvent, type FormEvent, type RefObject, useEffect, useRef, useState } from 'react';
import type { FactorsAnswer, StepUpBody } from '#contract/factors.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { askForPasskey, canUsePasskeys, PasskeyError } from '../../lib/passkeys.ts';
import { Dialog, DialogButtons } from '../../ui/dialog.tsx';
import classes from './step-up-dialog.module.css';

interface StepUpDialogProps {
  onAnswer: (confirmed: boolean) => void;
  /** Receives what Escape does. */
  closeRef: RefObject<(() => void) | undefined>;
}

type Method = 'password' | 'code';
type Confirmation = Exclude<StepUpBody, { assertion: unknown }> | 'passkey';

const TITLES: Record<Method, string> = {
  password: 'Please confirm with your password',
  code: 'Please confirm with a code',
};

export function StepUpDialog({ onAnswer, closeRef }: StepUpDialogProps) {
  const [method, setMethod] = useState<Method>('password');
  const [typed, setTyped] = useState('');
  const field = useRef<HTMLInputElement>(null);
  // Only offers the other ways, so the password does not wait for it.
  const factors = useQuery<FactorsAnswer>({ queryKey: ['/api/auth/factors'], staleTime: 0 }).data;
  const confirm = useMutation({
    mutationFn: async (confirmation: Confirmation) => {
      const body: StepUpBody =
        confirmation === 'passkey'
          ? { assertion: await askForPasskey('/api/auth/step-up/options') }
          : confirmation;
      await requestJson('/api/auth/step-up', { method: 'POST', body });
    },
    onSuccess: () => onAnswer(true),
    onError: () => field.current?.select(),
    // Do not keep the password in memory.
    gcTime: 0,
  });
  const pending = confirm.isPending;
  const blank = typed.trim() === '';
  // Stays open until the answer arrives, like the other dialogs that ask for a password.
  const close = () => (pending ? undefined : onAnswer(false));
  useEffect(() => {
    closeRef.current = close;
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    // React passes events on to the form that the dialog was opened from.
    event.stopPropagation();
    if (blank || pending) return;
    confirm.mutate(method === 'password' ? { password: typed } : { code: typed.trim() });
  };
  const change = (next: Method) => {
    setMethod(next);
    setTyped('');
    confirm.reset();
  };
  return (
    <Dialog opened onClose={close} title={TITLES[method]} above>
      <Stack component="form" gap="md" onSubmit={submit}>
        <Text size="sm">
          This change needs a confirmation. You are then not asked again for five minutes in this browser.
        </Text>
        {confirm.error ? (
          <Alert color="red" role="alert">
            {serverMessage(
              confirm.error,
              confirm.error instanceof PasskeyError ? confirm.error.message : 'The confirmation failed',
            )}
          </Alert>
        ) : null}
        <StepUpField
          key={method}
          method={method}
          typed={typed}
          isWrong={confirm.isError}
          onType={setTyped}
          inputRef={field}
        />
        <div className={classes.others}>
          {method === 'code' ? (
            <OtherWay label="Use the password" disabled={pending} onClick={() => change('password')} />
          ) : null}
          {method === 'password' && factors?.totp ? (
            <OtherWay label="Use a code" disabled={pending} onClick={() => change('code')} />
          ) : null}
          {factors?.passkeys?.length && canUsePasskeys() ? (
            <OtherWay label="Use a passkey" disabled={pending} onClick={() => confirm.mutate('passkey')} />
          ) : null}
        </div>
        <DialogButtons
          label="Confirm"
          pendingLabel="Verifying..."
          pending={pending}
          disabled={blank}
          onCancel={close}
        />
      </Stack>
    </Dialog>
  );
}

interface StepUpFieldProps {
  method: Method;
  typed: string;
  isWrong: boolean;
  onType: (text: string) => void;
  inputRef: RefObject<HTMLInputElement | null>;
}

function StepUpField({ method, typed, isWrong, onType, inputRef }: StepUpFieldProps) {
  // After a change of the method; the dialog itself focuses the first field.
  useEffect(() => inputRef.current?.focus(), [inputRef]);
  const shared = {
    ref: inputRef,
    'data-autofocus': true,
    'aria-invalid': isWrong,
    value: typed,
    onChange: (event: ChangeEvent<HTMLInputElement>) => onType(event.currentTarget.value),
  };
  return method === 'password' ? (
    <PasswordInput
      label="Password"
      autoComplete="current-password"
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password' }}
      {...shared}
    />
  ) : (
    <TextInput
      label="Code"
      description="Six digits from your authenticator app, or a recovery code"
      autoComplete="one-time-code"
      spellCheck={false}
      {...shared}
    />
  );
}

interface OtherWayProps {
  label: string;
  disabled: boolean;
  onClick: () => void;
}

const OtherWay = (props: OtherWayProps) => (
  <Button variant="subtle" size="compact-sm" disabled={props.disabled} onClick={props.onClick}>
    {props.label}
  </Button>
);
