import { Alert, Button, PasswordInput, TextInput } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { LoginBody } from '#contract/auth.ts';
import { useForm } from '#web/forms/use-form.ts';
import { requestJson, serverMessage } from '../../lib/api-client.ts';
import { announceSession, lookUpSession } from '../../lib/session.ts';
import { useDocumentTitle } from '../../lib/use-document-title.ts';
import { Brand } from '../../ui/brand.tsx';
import classes from './login-screen.module.css';
import { MarketingPanel } from './marketing-panel.tsx';

export function LoginScreen({ onSubmit }: { onSubmit: () => void }) {
  useDocumentTitle('Sign in');
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
          <p className={classes.subtitle}>Sign in to your account</p>
          <LoginForm onSubmit={onSubmit} />
        </section>
        <p className={classes.phonePitch}>
          Smart trading solutions: signals, a position calculator, risk management and profit optimization.
        </p>
      </div>
    </main>
  );
}

function LoginForm({ onSubmit }: { onSubmit: () => void }) {
  const client = useQueryClient();
  const signIn = useMutation({
    mutationFn: async (credentials: LoginBody) => {
      await requestJson('/api/auth/login', { method: 'POST', body: credentials });
      announceSession();
      // Start the router at the dashboard, whatever path showed the sign-in screen.
      window.history.replaceState(null, '', '/');
      await lookUpSession(client);
    },
  });
  const form = useForm({
    initialValues: { username: '', password: '' },
    validate: ({ username, password }) => ({
      ...(username.trim() === '' ? { username: 'Username is required' } : {}),
      ...(password === '' ? { password: 'Password is required' } : {}),
    }),
    focusError: true,
  });
  const submit = form.onSubmit(({ username, password }) => {
    onSubmit();
    signIn.mutate({ username: username.trim(), password });
  });

  return (
    <form className={classes.form} onSubmit={submit} noValidate>
      {signIn.isError ? (
        <Alert color="red" className={classes.alert} icon={<IconAlertCircle aria-hidden />}>
          {serverMessage(signIn.error, 'Login failed. Please try again.')}
        </Alert>
      ) : null}
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
      <Button type="submit" fullWidth disabled={signIn.isPending}>
        {signIn.isPending ? 'Signing in...' : 'Sign in'}
      </Button>
    </form>
  );
}
