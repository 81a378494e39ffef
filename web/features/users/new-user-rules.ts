export interface NewUserValues {
  username: string;
  password: string;
  confirmPassword: string;
  firstName: string;
  lastName: string;
  countryCode: string;
  mobileNumber: string;
  isAdmin: boolean;
}

export const EMPTY_NEW_USER: NewUserValues = {
  username: '',
  password: '',
  confirmPassword: '',
  firstName: '',
  lastName: '',
  countryCode: '',
  mobileNumber: '',
  isAdmin: false,
};

type Errors = Partial<Record<keyof NewUserValues, string>>;

const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Part 1 §5. The server checks again and more strictly; here it is about answering while one types. */
export function newUserErrors(values: NewUserValues): Errors {
  const errors: Errors = {};
  const username = values.username.trim();
  if (username.length < 3) errors.username = 'Username must be at least 3 characters';
  else if (username.length > 50) errors.username = 'Username must be less than 50 characters';
  else if (!EMAIL.test(username)) errors.username = 'Please enter a valid email address';

  if (values.password.length < 6) errors.password = 'Password must be at least 6 characters';
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
