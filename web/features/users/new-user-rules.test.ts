import { expect, test } from 'vitest';
import { EMPTY_NEW_USER, newUserBody, newUserErrors, refusedFields } from './new-user-rules.ts';

const valid = {
  ...EMPTY_NEW_USER,
  username: 'ann@example.com',
  password: 'secret1',
  confirmPassword: 'secret1',
};

// Requirements: accounts-validation-6
test('requires only an e-mail address and a password', () => {
  expect(newUserErrors(valid, 'paper')).toEqual({});
});

// Requirements: accounts-validation-4, accounts-validation-5
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
  [{ isAdmin: true }, { password: 'The password of an administrator must be at least 12 characters' }],
  [{ confirmPassword: 'other' }, { confirmPassword: "Passwords don't match" }],
  [{ countryCode: '44' }, { countryCode: 'Country code must start with + followed by digits' }],
  [{ mobileNumber: '12-34' }, { mobileNumber: 'Mobile number must contain only digits' }],
])('refuses %o with its text', (change, errors) => {
  expect(newUserErrors({ ...valid, ...change }, 'paper')).toEqual(errors);
});

test('requires twelve characters of every user in live mode', () => {
  expect(newUserErrors(valid, 'live')).toEqual({
    password: 'Password must be at least 12 characters in live mode',
  });
});

test('omits the confirmation, trims the name, and sends a type only when chosen', () => {
  const sent = newUserBody({ ...valid, username: ' ann@example.com ', isAdmin: true });
  expect(sent).toEqual({
    username: 'ann@example.com',
    password: 'secret1',
    firstName: '',
    lastName: '',
    countryCode: '',
    mobileNumber: '',
    isAdmin: true,
  });
  expect(newUserBody({ ...valid, accountType: 'test' })).toMatchObject({ isTestUser: true });
  expect(newUserBody({ ...valid, accountType: 'regular' })).toMatchObject({ isTestUser: false });
});

test('shows a refusal at its fields, with the first message of each', () => {
  const errors = [
    { path: 'firstName', message: 'First name must be at most 100 characters' },
    { path: 'firstName', message: 'First name contains characters that are not allowed' },
    { path: 'isTestUser', message: 'not a field of the form' },
  ];
  expect(refusedFields({ status: 400, body: { errors } })).toEqual({
    firstName: 'First name must be at most 100 characters',
  });
  expect(refusedFields({ status: 409, body: { message: 'Taken' } })).toEqual({ username: 'Taken' });
  expect(refusedFields({ status: 503 })).toEqual({});
});
