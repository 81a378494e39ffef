export interface PasswordValues {
  currentPassword: string;
  newPassword: string;
  confirmPassword: string;
}

/** Part 1 §5; the mismatch is shown on the confirmation. */
export function passwordErrors(values: PasswordValues): Partial<Record<keyof PasswordValues, string>> {
  const errors: Partial<Record<keyof PasswordValues, string>> = {};
  if (values.currentPassword === '') errors.currentPassword = 'Current password is required';
  if (values.newPassword.length < 6) errors.newPassword = 'Password must be at least 6 characters';
  if (values.confirmPassword !== values.newPassword) errors.confirmPassword = 'Passwords do not match';
  return errors;
}
