import { z } from 'zod';
import { optionalPagingQuery, queryBoolean } from './paging.ts';
import { userSettings } from './settings.ts';
import { limitedText, plainText } from './text.ts';

/** ASCII only, so that look-alike letters cannot create an account that reads like an existing one. */
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$/;

export const LONGEST_USERNAME = 50;
const TOO_LONG_USERNAME = 'Username must be less than 50 characters';

const optionalText = (schema: z.ZodType<string>) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullable().optional());

export const newUserFields = {
  username: limitedText(2 * LONGEST_USERNAME, TOO_LONG_USERNAME)
    .trim()
    .min(3, 'Username must be at least 3 characters')
    .max(LONGEST_USERNAME, { error: TOO_LONG_USERNAME, abort: true })
    .regex(EMAIL, 'Please enter a valid email address'),
  password: limitedText(100, 'Password must be less than 100 characters').min(
    6,
    'Password must be at least 6 characters',
  ),
  firstName: optionalText(plainText('First name', 100)),
  lastName: optionalText(plainText('Last name', 100)),
  countryCode: optionalText(
    limitedText(7, 'Country code must have at most 6 digits').regex(
      /^\+\d+$/,
      'Country code must start with + followed by digits',
    ),
  ),
  mobileNumber: optionalText(
    limitedText(20, 'Mobile number must have at most 20 digits').regex(
      /^\d+$/,
      'Mobile number must contain only digits',
    ),
  ),
  isAdmin: z.boolean().default(false),
};

export const createUserBody = z.object({ ...newUserFields, isTestUser: z.boolean().optional() });
export type CreateUserBody = z.infer<typeof createUserBody>;

export const user = z.object({
  id: z.string(),
  username: z.string(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  countryCode: z.string().nullable(),
  mobileNumber: z.string().nullable(),
  isAdmin: z.boolean(),
  isActive: z.boolean(),
  isTestUser: z.boolean(),
  createdAt: z.string(),
  userActive: z.boolean(),
  activeTradingEnabled: z.boolean(),
  settings: userSettings.nullable(),
});
export type User = z.infer<typeof user>;

export const USER_SORTS = ['username', 'name', 'createdAt', 'isActive', 'activeTrading'] as const;
export type UserSort = (typeof USER_SORTS)[number];

export const usersQuery = optionalPagingQuery.extend({
  includeInactive: queryBoolean,
  /** Matches any part of the username, the names or the phone number; case-insensitive. */
  search: limitedText(100).trim().optional(),
  sort: z.enum(USER_SORTS).optional(),
  direction: z.enum(['asc', 'desc']).default('asc'),
});
export const usersAnswer = z.object({ users: z.array(user), total: z.number() });
export type UsersAnswer = z.infer<typeof usersAnswer>;
export const userAnswer = z.object({ user });

export const userNames = z.array(z.object({ id: z.string(), username: z.string() }));

export const activeTradingBody = z.object({ activeTrading: z.boolean() });
export const statusBody = z.object({ isActive: z.boolean() });
