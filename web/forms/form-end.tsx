import { Alert } from '@mantine/core';
import type { ComponentProps } from 'react';
import { serverMessage } from '../lib/api-client.ts';
import { DialogButtons } from '../ui/dialog.tsx';

interface FormEndProps extends ComponentProps<typeof DialogButtons> {
  /** Why the server refused; null shows nothing. */
  error: Error | null;
  errorTitle: string;
  /** Where the server gave no reason. */
  fallback: string;
}

/** The end of a form in a dialog: why it was refused, and its buttons. */
export function FormEnd({ error, errorTitle, fallback, ...buttons }: FormEndProps) {
  return (
    <>
      {error ? (
        <Alert color="red" title={errorTitle} role="alert">
          {serverMessage(error, fallback)}
        </Alert>
      ) : null}
      <DialogButtons {...buttons} />
    </>
  );
}
