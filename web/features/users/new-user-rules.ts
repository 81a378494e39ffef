import type { ErrorBody } from '#contract/errors.ts';
import type { CreateUserBody } from '#contract/users.ts';
import type { ExchangeMode } from '#domain/eligibility/trading-mode.ts';
import { passwordLengthFault } from '#domain/password-length.ts';

/** Empty means the mode's default. */
export type AccountType = '' | 'test' | 'regular';

export const EMPTY_NEW_USER = {
  username: '',
  password: '',
  confirmPassword: '',
  firstName: '',
  lastName: '',
  countryCode: '',
  mobileNumber: '',
  isAdmin: false,
  accountType: '' as AccountType,
};

export type NewUserValues = typeof EMPTY_NEW_USER;

type Errors = Partial<Record<keyof NewUserValues, string>>;

const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Checks before sending; the server checks again, more strictly. */
export function newUserErrors(values: NewUserValues, exchangeMode: ExchangeMode | undefined): Errors {
  const errors: Errors = {};
  const username = values.username.trim();
  if (username.length < 3) errors.username = 'Username must be at least 3 characters';
  else if (username.length > 50) errors.username = 'Username must be less than 50 characters';
  else if (!EMAIL.test(username)) errors.username = 'Please enter a valid email address';

  const tooShort = passwordLengthFault(values.password, { isAdmin: values.isAdmin, exchangeMode });
  if (tooShort !== null) errors.password = tooShort;
  else if (values.password.length > 100) errors.password = 'Password must be less than 100 characters';
  if (values.confirmPassword !== values.password) errors.confirmPassword = "Passwords don't match";

  if (values.countryCode && !/^\+\d+$/.test(values.countryCode)) {
    errors.countryCode = 'Country code must start with + followed by digits';
  }
  if (values.mobileNumber && !/^\d+$/.test(values.mobileNumber)) {
    errors.mobileNumber = 'Mobile number must contain only digits';
  }
  return errors;
}

/** Omits the type when none is chosen, so that the server decides. */
export function newUserBody({ confirmPassword: _, accountType, ...values }: NewUserValues): CreateUserBody {
  const isTestUser = accountType === '' ? {} : { isTestUser: accountType === 'test' };
  return { ...values, username: values.username.trim(), ...isTestUser };
}

/** The server's first error per field; a taken name is an error of the username. */
export function refusedFields(answer: { status: number; body?: Partial<ErrorBody> | undefined }): Errors {
  if (answer.status === 409) return { username: answer.body?.message ?? '' };
  const named = answer.body?.errors?.filter(({ path }) => path in EMPTY_NEW_USER) ?? [];
  return Object.fromEntries(named.toReversed().map(({ path, message }) => [path, message]));
}
