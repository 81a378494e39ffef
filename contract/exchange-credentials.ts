import { z } from 'zod';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';

const secret = (what: string) =>
  z
    .string({ error: (issue) => (issue.input === undefined ? `${what} is required` : undefined) })
    .max(1000, { error: `${what} must be at most 256 characters`, abort: true })
    .trim()
    .min(1, `${what} is required`)
    .max(256, `${what} must be at most 256 characters`)
    .regex(/^[\x21-\x7e]*$/, `${what} must be plain letters, digits and signs without spaces`);

/** What PUT takes. The secrets go in and never come back out. */
export const exchangeCredentialsBody = z
  .object({
    exchangePlatform: z.enum(EXCHANGE_PLATFORMS),
    apiKey: secret('API key'),
    apiSecret: secret('API secret'),
    /** Bitget's third secret; for Bybit it is dropped. */
    passphrase: z.preprocess((value) => (value === '' ? undefined : value), secret('Passphrase').optional()),
  })
  .refine((body) => body.exchangePlatform !== 'Bitget' || body.passphrase !== undefined, {
    path: ['passphrase'],
    message: 'Passphrase is required for Bitget',
  });
export type ExchangeCredentialsBody = z.infer<typeof exchangeCredentialsBody>;

/** Of the asked exchange; without the parameter, of the one that the user's settings name. */
export const exchangeCredentialsQuery = z.object({ exchangePlatform: z.enum(EXCHANGE_PLATFORMS).optional() });

/**
 * The state of stored credentials. `unverified`: the exchange could not be asked yet, and nothing is ordered before that;
 * `rejected`: the exchange refuses them; `duplicate`: another user connected to the same account first; `other-mode`:
 * entered in another mode; `unreadable`: they do not open.
 */
export const CONNECTION_STATES = [
  'none',
  'ready',
  'unverified',
  'rejected',
  'duplicate',
  'other-mode',
  'unreadable',
] as const;
export type ConnectionState = (typeof CONNECTION_STATES)[number];

export const exchangeCredentials = z.object({
  exchangePlatform: z.enum(EXCHANGE_PLATFORMS),
  /** Credentials are stored, can be opened, are of this mode, not rejected, and of no other user's account. */
  connected: z.boolean(),
  state: z.enum(CONNECTION_STATES),
  /** Why they are not used; null while they are. */
  problem: z.string().nullable(),
  /** The last four characters of the key, '••••' of a short one; null when none is stored. */
  apiKeyHint: z.string().nullable(),
  updatedAt: z.string().nullable(),
});
export type ExchangeCredentials = z.infer<typeof exchangeCredentials>;

/** What the exchange said: the futures balance of the account, or why it gave none. */
export const connectionTest = z.discriminatedUnion('success', [
  z.object({
    success: z.literal(true),
    exchangePlatform: z.enum(EXCHANGE_PLATFORMS),
    message: z.string(),
    futuresBalance: z.string(),
    futuresAvailable: z.string(),
  }),
  z.object({
    success: z.literal(false),
    exchangePlatform: z.enum(EXCHANGE_PLATFORMS),
    message: z.string(),
    error: z.enum(['credentials', 'unreachable', 'refused', 'duplicate']),
  }),
]);
export type ConnectionTest = z.infer<typeof connectionTest>;

/** PUT tests and stores; a key that the exchange refuses is not stored. `test` is null where there is nothing to ask (paper mode). */
export const savedExchangeCredentials = exchangeCredentials.extend({ test: connectionTest.nullable() });
export type SavedExchangeCredentials = z.infer<typeof savedExchangeCredentials>;
