import { expect, test } from 'vitest';
import { EMPTY_NEW_USER, newUserErrors } from './new-user-rules.ts';

const valid = {
  ...EMPTY_NEW_USER,
  username: 'ann@example.com',
  password: 'secret1',
  confirmPassword: 'secret1',
};

test('a user needs only an e-mail address and a password', () => {
  expect(newUserErrors(valid)).toEqual({});
});

test.each([
  [{ username: 'ab' }, { username: 'Username must be at least 3 characters' }],
  [{ username: `${'a'.repeat(40)}@example.com` }, { username: 'Username must be less than 50 characters' }],
  [{ username: 'ann' }, { username: 'Please enter a valid email address' }],
  [{ username: 'ann@example' }, { username: 'Please enter a valid email address' }],
  [{ password: '12345', confirmPassword: '12345' }, { password: 'Password must be at least 6 characters' }],
  [
    { password: 'x'.repeat(101), confirmPassword: 'x'.repeat(101) },
    { password: 'Password must be less than 100 characters' },
  ],
  [{ confirmPassword: 'other' }, { confirmPassword: "Passwords don't match" }],
  [{ countryCode: '44' }, { countryCode: 'Country code must start with + followed by digits' }],
  [{ mobileNumber: '12-34' }, { mobileNumber: 'Mobile number must contain only digits' }],
])('%o is refused with its text', (change, errors) => {
  expect(newUserErrors({ ...valid, ...change })).toEqual(errors);
});
