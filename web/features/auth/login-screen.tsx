import { Alert, Button, PasswordInput, TextInput } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { LoginBody } from '#contract/auth.ts';
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
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [checked, setChecked] = useState(false);
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

  const usernameError = checked && username.trim() === '' ? 'Username is required' : null;
  const passwordError = checked && password === '' ? 'Password is required' : null;

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setChecked(true);
    const missing = username.trim() === '' ? 'username' : password === '' ? 'password' : null;
    if (missing) {
      event.currentTarget.querySelector<HTMLInputElement>(`[name=${missing}]`)?.focus();
      return;
    }
    onSubmit();
    signIn.mutate({ username: username.trim(), password });
  };

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
        value={username}
        error={usernameError}
        onChange={(event) => setUsername(event.currentTarget.value)}
      />
      <PasswordInput
        label="Password"
        name="password"
        autoComplete="current-password"
        value={password}
        error={passwordError}
        visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the password', tabIndex: 0 }}
        onChange={(event) => setPassword(event.currentTarget.value)}
      />
      <Button type="submit" fullWidth disabled={signIn.isPending}>
        {signIn.isPending ? 'Signing in...' : 'Sign in'}
      </Button>
    </form>
  );
}
