export interface PasswordValues {
  currentPassword: string;
  newPassword: string;
  confirmPassword: string;
}

/** The server takes none that is longer. */
const LONGEST_PASSWORD = 1000;

/** A mismatch is shown at the confirmation. */
export function passwordErrors(values: PasswordValues): Partial<Record<keyof PasswordValues, string>> {
  const errors: Partial<Record<keyof PasswordValues, string>> = {};
  if (values.currentPassword === '') errors.currentPassword = 'Current password is required';
  if (values.newPassword.length < 6) errors.newPassword = 'Password must be at least 6 characters';
  else if (values.newPassword.length > LONGEST_PASSWORD) {
    errors.newPassword = `Password must be at most ${LONGEST_PASSWORD} characters`;
  }
  if (values.confirmPassword !== values.newPassword) errors.confirmPassword = 'Passwords do not match';
  return errors;
}
