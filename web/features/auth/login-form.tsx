import { Alert, Button, PasswordInput, TextInput } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { serverMessage } from '../../lib/api-client.ts';
import classes from './login-screen.module.css';
import { useSignIn } from './sign-in.ts';

export function LoginForm({ onSubmit }: { onSubmit: () => void }) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [checked, setChecked] = useState(false);
  const signIn = useSignIn();

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
