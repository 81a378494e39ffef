import { z } from 'zod';
import { FACTOR_KINDS } from './factors.ts';
import { limitedText, ownPassword } from './text.ts';

/** Bodies under /api/auth hold a name and a password. */
export const MAX_AUTH_BODY_BYTES = 16 * 1024;

/** Only the body size limits these: a value that no account can have fails like any wrong one. */
export const loginBody = z.object({
  username: limitedText(MAX_AUTH_BODY_BYTES).min(1, 'Username is required'),
  password: limitedText(MAX_AUTH_BODY_BYTES).min(1, 'Password is required'),
});
export type LoginBody = z.infer<typeof loginBody>;

export const currentUser = z.object({
  id: z.string(),
  username: z.string(),
  isAdmin: z.boolean(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  countryCode: z.string().nullable(),
  mobileNumber: z.string().nullable(),
});
export type CurrentUser = z.infer<typeof currentUser>;

export const signedInAnswer = z.object({ user: currentUser });
/** `factorRequired`: the password was right, and one of these factors is still needed. */
export const loginAnswer = z.union([
  signedInAnswer,
  z.object({ factorRequired: z.array(z.enum(FACTOR_KINDS)) }),
]);
export type LoginAnswer = z.infer<typeof loginAnswer>;
export const sessionAnswer = z.object({
  user: currentUser,
  displayTimezone: z.string(),
  /** The user has to set up a second factor before anything else. */
  mustEnrolFactor: z.literal(true).optional(),
});
export type SessionAnswer = z.infer<typeof sessionAnswer>;

export const passwordBody = z.object({ password: ownPassword('Password') });

export const messageAnswer = z.object({ message: z.string() });
export const successAnswer = z.object({ success: z.boolean(), message: z.string() });
