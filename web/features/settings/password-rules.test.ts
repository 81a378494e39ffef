import { expect, test } from 'vitest';
import { passwordErrors } from './password-rules.ts';

// Requirements: accounts-validation-3
test('each rule has its own text', () => {
  expect(passwordErrors({ currentPassword: '', newPassword: '12345', confirmPassword: '1' })).toEqual({
    currentPassword: 'Current password is required',
    newPassword: 'Password must be at least 6 characters',
    confirmPassword: 'Passwords do not match',
  });
});

test('six equal characters are enough', () => {
  expect(passwordErrors({ currentPassword: 'x', newPassword: '123456', confirmPassword: '123456' })).toEqual(
    {},
  );
});

test('a password may be as long as the server takes it', () => {
  const check = (newPassword: string) =>
    passwordErrors({ currentPassword: 'x', newPassword, confirmPassword: newPassword });
  expect(check('x'.repeat(1000))).toEqual({});
  expect(check('x'.repeat(1001))).toEqual({ newPassword: 'Password must be at most 1000 characters' });
});
