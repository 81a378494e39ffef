import type { ErrorBody } from '#contract/errors.ts';
import { passwordLengthFault } from '#domain/password-length.ts';

export interface PasswordValues {
  currentPassword: string;
  newPassword: string;
  confirmPassword: string;
}

/** The server takes none that is longer. */
const LONGEST_PASSWORD = 1000;

type Errors = Partial<Record<keyof PasswordValues, string>>;

/** A mismatch is shown at the confirmation. */
export function passwordErrors(values: PasswordValues, isAdmin: boolean): Errors {
  const errors: Errors = {};
  if (values.currentPassword === '') errors.currentPassword = 'Current password is required';
  const tooShort = passwordLengthFault(values.newPassword, { isAdmin, exchangeMode: undefined });
  if (tooShort !== null) errors.newPassword = tooShort;
  else if (values.newPassword.length > LONGEST_PASSWORD) {
    errors.newPassword = `Password must be at most ${LONGEST_PASSWORD} characters`;
  }
  if (values.confirmPassword !== values.newPassword) errors.confirmPassword = 'Passwords do not match';
  return errors;
}

/** Why the server refuses the new password: it knows the mode and the most used ones. */
export function refusedPassword(body: Partial<ErrorBody> | undefined): Errors {
  const fault = body?.errors?.find(({ path }) => path === 'newPassword');
  return fault === undefined ? {} : { newPassword: fault.message };
}
