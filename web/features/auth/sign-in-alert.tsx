import { Alert } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { serverMessage } from '../../lib/api-client.ts';
import { PasskeyError } from '../../lib/passkeys.ts';
import classes from './login-screen.module.css';

/** Why the last attempt to sign in failed. */
export function SignInAlert({ error }: { error: Error | null }) {
  if (error === null) return null;
  const otherwise = error instanceof PasskeyError ? error.message : 'Login failed. Please try again.';
  return (
    <Alert color="red" className={classes.alert} icon={<IconAlertCircle aria-hidden />}>
      {serverMessage(error, otherwise)}
    </Alert>
  );
}
