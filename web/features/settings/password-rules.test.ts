import { expect, test } from 'vitest';
import { passwordErrors, refusedPassword } from './password-rules.ts';

const check = (newPassword: string, isAdmin = false) =>
  passwordErrors({ currentPassword: 'x', newPassword, confirmPassword: newPassword }, isAdmin);

// Requirements: accounts-validation-3
test('reports each broken rule with its own text', () => {
  const values = { currentPassword: '', newPassword: '12345', confirmPassword: '1' };
  expect(passwordErrors(values, false)).toEqual({
    currentPassword: 'Current password is required',
    newPassword: 'Password must be at least 6 characters',
    confirmPassword: 'Passwords do not match',
  });
});

test('requires six characters for a user and twelve for an administrator', () => {
  expect(check('six ch')).toEqual({});
  expect(check('eleven char', true)).toEqual({
    newPassword: 'The password of an administrator must be at least 12 characters',
  });
  expect(check('twelve chars', true)).toEqual({});
});

test("accepts a password up to the server's limit", () => {
  expect(check('x'.repeat(1000))).toEqual({});
  expect(check('x'.repeat(1001))).toEqual({ newPassword: 'Password must be at most 1000 characters' });
});

test("shows the server's refusal of the new password at its field", () => {
  const errors = [{ path: 'newPassword', message: 'Password must not be the username' }];
  expect(refusedPassword({ errors })).toEqual({ newPassword: 'Password must not be the username' });
  expect(refusedPassword({ message: 'Invalid password' })).toEqual({});
  expect(refusedPassword(undefined)).toEqual({});
});
