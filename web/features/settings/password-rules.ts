import type { ErrorBody } from '#contract/errors.ts';
import { passwordLengthFault } from '#domain/password-length.ts';

interface PasswordValues {
  currentPassword: string;
  newPassword: string;
  confirmPassword: string;
}

/** The server's limit, in characters. */
const LONGEST_PASSWORD = 1000;

type Errors = Partial<Record<keyof PasswordValues, string>>;

/** Errors by field; a mismatch is shown at the confirmation. */
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

/** The server's refusal of the new password; only the server knows the mode and the most common passwords. */
export function refusedPassword(body: Partial<ErrorBody> | undefined): Errors {
  const fault = body?.errors?.find(({ path }) => path === 'newPassword');
  return fault === undefined ? {} : { newPassword: fault.message };
}
