import { Button, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { FactorKind } from '#contract/factors.ts';
import { useForm } from '#web/forms/use-form.ts';
import { isStatus, requestJson } from '../../lib/api-client.ts';
import { canUsePasskeys } from '../../lib/passkeys.ts';
import { useFinishSignIn } from './finish-sign-in.ts';
import classes from './login-screen.module.css';
import { PasskeyButton, usePasskeySignIn } from './passkey-button.tsx';
import { SignInAlert } from './sign-in-alert.tsx';

interface FactorFormProps {
  /** The factors that the user has. */
  factors: readonly FactorKind[];
  /** Returns to the password, with the reason unless the user wants it. */
  onBack: (reason: Error | null) => void;
}

/** Asks for the second factor after the right password. */
export function FactorForm({ factors, onBack }: FactorFormProps) {
  const finish = useFinishSignIn();
  // The password has to be entered again once too much time has passed.
  const onError = (error: Error) => {
    if (isStatus(error, 401)) onBack(error);
  };
  const sendCode = useMutation({
    mutationFn: async (code: string) => {
      await requestJson('/api/auth/login/factor', { method: 'POST', body: { code } });
      await finish();
    },
  });
  const passkey = usePasskeySignIn();
  const form = useForm({
    initialValues: { code: '' },
    validate: ({ code }) => (code.trim() === '' ? { code: 'Code is required' } : {}),
    focusError: true,
  });
  const submit = form.onSubmit(({ code }) => {
    passkey.reset();
    sendCode.mutate(code.trim(), { onError });
  });
  const sendPasskey = () => {
    sendCode.reset();
    passkey.mutate(undefined, { onError });
  };
  const pending = sendCode.isPending || passkey.isPending;
  const hasCode = factors.includes('totp');
  const passkeyButton = factors.includes('passkey') ? (
    <PasskeyButton
      variant={hasCode ? 'default' : 'filled'}
      pending={passkey.isPending}
      disabled={pending}
      onClick={sendPasskey}
    />
  ) : null;

  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      <SignInAlert error={sendCode.error ?? passkey.error} />
      {hasCode ? (
        <>
          <TextInput
            label="Code"
            description="Six digits from your authenticator app, or a recovery code"
            name="code"
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            autoFocus
            {...form.field('code')}
          />
          <Button type="submit" fullWidth disabled={pending}>
            {sendCode.isPending ? 'Verifying...' : 'Continue'}
          </Button>
        </>
      ) : canUsePasskeys() ? null : (
        <p className={classes.note}>
          Your account needs a passkey, and this browser cannot use passkeys at this address.
        </p>
      )}
      {passkeyButton}
      <Button variant="subtle" fullWidth disabled={pending} onClick={() => onBack(null)}>
        Back
      </Button>
    </form>
  );
}
