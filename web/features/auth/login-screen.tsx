import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { LoginAnswer, LoginBody } from '#contract/auth.ts';
import type { FactorKind } from '#contract/factors.ts';
import { useForm } from '#web/forms/use-form.ts';
import { requestJson } from '../../lib/api-client.ts';
import { useDocumentTitle } from '../../lib/use-document-title.ts';
import { Brand } from '../../ui/brand.tsx';
import { FactorForm } from './factor-form.tsx';
import { useFinishSignIn } from './finish-sign-in.ts';
import classes from './login-screen.module.css';
import { MarketingPanel } from './marketing-panel.tsx';
import { PasskeyButton, usePasskeySignIn } from './passkey-button.tsx';
import { SignInAlert } from './sign-in-alert.tsx';

/** After the right password of a user with a second factor. */
interface HalfSignIn {
  username: string;
  factors: readonly FactorKind[];
}

export function LoginScreen({ onSubmit }: { onSubmit: () => void }) {
  useDocumentTitle('Sign in');
  const [half, setHalf] = useState<HalfSignIn | null>(null);
  const [former, setFormer] = useState<{ username: string; reason: Error | null }>(NOBODY);
  return (
    <main className={classes.screen}>
      <MarketingPanel />
      <div className={classes.side}>
        <div className={classes.phoneBrand}>
          <Brand />
        </div>
        <section className={classes.card} aria-labelledby="welcome">
          <h1 id="welcome" className={classes.title}>
            Welcome Back
          </h1>
          <p className={classes.subtitle}>
            {half ? `Confirm that you are ${half.username}` : 'Sign in to your account'}
          </p>
          {half ? (
            <FactorForm
              factors={half.factors}
              onBack={(reason) => {
                setFormer({ username: half.username, reason });
                setHalf(null);
              }}
            />
          ) : (
            <LoginForm {...former} onSubmit={onSubmit} onHalf={setHalf} />
          )}
        </section>
        <p className={classes.phonePitch}>
          Smart trading solutions: signals, a position calculator, risk management and profit optimization.
        </p>
      </div>
    </main>
  );
}

const NOBODY = { username: '', reason: null };

interface LoginFormProps {
  /** Who returned from the second factor. */
  username: string;
  /** Why they did, unless they wanted to. */
  reason: Error | null;
  onSubmit: () => void;
  onHalf: (half: HalfSignIn) => void;
}

function LoginForm({ username: former, reason, onSubmit, onHalf }: LoginFormProps) {
  const finish = useFinishSignIn();
  const signIn = useMutation({
    mutationFn: async (credentials: LoginBody) => {
      const answer = await requestJson<LoginAnswer>('/api/auth/login', { method: 'POST', body: credentials });
      if ('factorRequired' in answer)
        onHalf({ username: credentials.username, factors: answer.factorRequired });
      else await finish();
    },
  });
  const passkey = usePasskeySignIn();
  const form = useForm({
    initialValues: { username: former, password: '' },
    validate: ({ username, password }) => ({
      ...(username.trim() === '' ? { username: 'Username is required' } : {}),
      ...(password === '' ? { password: 'Password is required' } : {}),
    }),
    focusError: true,
  });
  const submit = form.onSubmit(({ username, password }) => {
    onSubmit();
    passkey.reset();
    signIn.mutate({ username: username.trim(), password });
  });

  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      <SignInAlert
        error={signIn.error ?? passkey.error ?? (signIn.isIdle && passkey.isIdle ? reason : null)}
      />
      <TextInput
        label="Username"
        name="username"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        {...form.field('username')}
      />
      <PasswordInput
        label="Password"
        name="password"
        autoComplete="current-password"
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password', tabIndex: 0 }}
        {...form.field('password')}
      />
      <Button type="submit" fullWidth disabled={signIn.isPending || passkey.isPending}>
        {signIn.isPending ? 'Signing in...' : 'Sign in'}
      </Button>
      <PasskeyButton
        pending={passkey.isPending}
        disabled={signIn.isPending}
        onClick={() => {
          onSubmit();
          signIn.reset();
          passkey.mutate();
        }}
      />
    </form>
  );
}
