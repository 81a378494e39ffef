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

/** Body of PUT. The secrets are never returned. */
export const exchangeCredentialsBody = z
  .object({
    exchangePlatform: z.enum(EXCHANGE_PLATFORMS),
    apiKey: secret('API key'),
    apiSecret: secret('API secret'),
    /** Bitget's third secret; dropped for Bybit. */
    passphrase: z.preprocess((value) => (value === '' ? undefined : value), secret('Passphrase').optional()),
  })
  .refine((body) => body.exchangePlatform !== 'Bitget' || body.passphrase !== undefined, {
    path: ['passphrase'],
    message: 'Passphrase is required for Bitget',
  });
export type ExchangeCredentialsBody = z.infer<typeof exchangeCredentialsBody>;

/** Defaults to the exchange in the user's settings. */
export const exchangeCredentialsQuery = z.object({ exchangePlatform: z.enum(EXCHANGE_PLATFORMS).optional() });

/**
 * The state of stored credentials. `unverified`: the exchange has not confirmed them yet, and no order is placed before it
 * does; `rejected`: the exchange refuses them; `duplicate`: another user connected the same account first; `other-mode`:
 * entered in another mode; `unreadable`: they cannot be decrypted.
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
  /** Credentials are stored, decryptable, of this mode, not rejected, and not of another user's account. */
  connected: z.boolean(),
  state: z.enum(CONNECTION_STATES),
  /** Why the credentials are not used; null while they are used. */
  problem: z.string().nullable(),
  /** The last four characters of the key, '••••' for a short key; null when none is stored. */
  apiKeyHint: z.string().nullable(),
  updatedAt: z.string().nullable(),
  /** The kind of account, as the exchange told it; null while it has not. */
  accountMode: z.enum(['classic', 'unified']).nullable(),
  /**
   * Names of the addresses by which the program's instances call the exchange: a key that is bound to addresses has to
   * allow each of them. Empty where no address has a name, and on paper.
   */
  callingAddresses: z.array(z.string()),
});
export type ExchangeCredentials = z.infer<typeof exchangeCredentials>;

/** The futures balance that the exchange reported, or why it reported none. */
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

/** PUT tests the key and stores it unless the exchange refuses it. `test` is null in paper mode, which has no exchange to ask. */
export const savedExchangeCredentials = exchangeCredentials.extend({ test: connectionTest.nullable() });
export type SavedExchangeCredentials = z.infer<typeof savedExchangeCredentials>;
