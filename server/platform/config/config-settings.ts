import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { EXIT_SCOPES } from '#domain/exits/select-exits.ts';
import { OLDEST_SIGNAL_DAYS } from '#domain/workflow/workflow-lifecycle.ts';

export const TRADINGVIEW_ADDRESSES = [
  '52.89.214.238',
  '34.212.75.30',
  '54.218.53.128',
  '52.32.178.7',
] as const;

const PROXY_GROUPS = ['loopback', 'linklocal', 'uniquelocal'];

interface SettingNotes {
  /** Its purpose, in one line. */
  about: string;
  /** The accepted values, as the end of the sentence "It takes …". */
  takes: string;
  /** What applies when it is unset. */
  unset: string;
  /** Its value is never shown. */
  secret?: boolean;
}

interface SettingDescription extends SettingNotes {
  name: string;
}

const notesOf = new Map<z.ZodType, SettingNotes>();

function setting<Schema extends z.ZodType>(schema: Schema, notes: SettingNotes): Schema {
  notesOf.set(schema, notes);
  return schema;
}

const pattern = (allowed: RegExp) => z.string().regex(allowed);

const wholeNumber = (min: number, max: number) =>
  pattern(/^\d{1,10}$/)
    .transform(Number)
    .pipe(z.number().int().min(min).max(max));

const list = (isItem: (item: string) => boolean) =>
  z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== ''),
    )
    .refine((items) => items.every(isItem));

const isAddressRange = (text: string) => isIP(text) !== 0 || ipaddr.isValidCIDR(text);

/** Trusting everybody would let any caller choose its own address. */
const isProxyRange = (text: string) => isAddressRange(text) && !text.endsWith('/0');

function isUrl(text: string, protocols: string[]): boolean {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
}

function isTimezone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

const isHttpUrl = (text: string) => isUrl(text, ['http:', 'https:']);
const databaseUrl = z.string().refine((text) => isUrl(text, ['postgres:', 'postgresql:']));
const hasNoPath = (text: string) => new URL(text).href === `${new URL(text).origin}/`;
/** Whatever else such an address had, credentials and paths, would be dropped. */
const origin = () =>
  z
    .string()
    .refine((text) => isHttpUrl(text) && hasNoPath(text))
    .transform((text) => new URL(text).origin)
    .nullable()
    .default(null);
const ORIGIN = 'an http:// or https:// address without a path, query or credentials';

const wait = (about: string, unset: string) =>
  setting(wholeNumber(0, 120_000).nullable().default(null), {
    about,
    takes: 'milliseconds from 0 to 120000',
    unset,
  });

const retention = (about: string, { least = 30, unset = 0 }: { least?: number; unset?: number } = {}) =>
  setting(
    wholeNumber(0, 36_500)
      .refine((days) => days === 0 || days >= least)
      .default(unset),
    {
      about,
      takes: `0 (all are kept) or days from ${least} to 36500`,
      unset: unset === 0 ? 'all are kept' : String(unset),
    },
  );

/** Every setting of the program, read from the environment. An empty value counts as unset. */
export const settingsSchema = z.object({
  HOST: setting(pattern(/^[\w.:-]+$/).default('127.0.0.1'), {
    about: 'Address to listen on; 0.0.0.0 opens it to the network',
    takes: 'an IP address or a host name',
    unset: '127.0.0.1',
  }),
  PORT: setting(wholeNumber(0, 65_535).default(3000), {
    about: 'Port to listen on; 0 takes a free one',
    takes: 'a whole number from 0 to 65535',
    unset: '3000',
  }),
  PUBLIC_URL: setting(origin(), {
    about:
      'The address that browsers open. Pages answer under its host only, and with https cookies are always secure. Demo and live mode need an https one if other machines can reach the program',
    takes: 'an origin without a path, such as https://board.example.com',
    unset: 'pages answer under any host',
  }),
  DATA_DIR: setting(z.string().default('./data'), {
    about: 'Folder of the embedded database and the generated secret',
    takes: 'a path',
    unset: './data',
  }),
  DATABASE_URL: setting(databaseUrl.nullable().default(null), {
    about: 'Your own PostgreSQL 14 or newer; several instances may share it',
    takes: 'an address that begins with postgres://',
    unset: 'an embedded PostgreSQL under DATA_DIR',
    secret: true,
  }),
  APP_ENV: setting(pattern(/^[\w.-]{1,40}$/).default('production'), {
    about: 'The environment that the badge shows; automatic trading needs production',
    takes: 'production, development or another word (shown UNKNOWN)',
    unset: 'production for npm start, development for npm run dev',
  }),
  AUTO_TRADE: setting(z.enum(['enabled', 'disabled']).nullable().default(null), {
    about: 'Automatic execution of signals',
    takes: 'enabled or disabled',
    unset: 'enabled in paper mode, disabled in demo and live',
  }),
  EXCHANGE_MODE: setting(z.enum(['paper', 'demo', 'live']).default('paper'), {
    about:
      "Where orders go: the built-in paper exchange, the exchanges' demo trading, or real money (needs APP_ENV=production)",
    takes: 'paper, demo or live',
    unset: 'paper',
  }),
  EXIT_SCOPE: setting(z.enum(EXIT_SCOPES).default('strategy'), {
    about: 'Which positions a closing signal concerns: those that its own strategy opened, or those of any',
    takes: 'strategy or any',
    unset: 'strategy',
  }),
  READ_AHEAD: setting(z.enum(['enabled', 'disabled']).default('disabled'), {
    about: 'Reading accounts shortly before a signal is expected, so that an order is one request',
    takes: 'enabled or disabled',
    unset: 'disabled',
  }),
  MANUAL_ORDERS: setting(z.enum(['enabled', 'disabled']).default('disabled'), {
    about:
      'Orders by hand from the position calculator in production with demo or live trading; on paper they are always allowed',
    takes: 'enabled or disabled',
    unset: 'disabled',
  }),
  DEPLOYMENT_ID: setting(z.string().max(200).nullable().default(null), {
    about: 'Marks this instance as a deployment; manual triggers are then refused in production',
    takes: 'a name of up to 200 characters',
    unset: 'not a deployment',
  }),
  INSTANCE_ID: setting(z.string().max(200).nullable().default(null), {
    about: 'Name of this instance in the environment dialog',
    takes: 'a name of up to 200 characters',
    unset: 'generated at every start',
  }),
  ADMIN_USERNAME: setting(z.email().min(3).max(50).default('admin@example.com'), {
    about: 'User name of the first administrator, created only when no user exists',
    takes: 'an e-mail address of 3 to 50 characters',
    unset: 'admin@example.com',
  }),
  ADMIN_PASSWORD: setting(z.string().min(6).max(100).nullable().default(null), {
    about: 'Password of the first administrator; only the first start reads it',
    takes: '12 to 100 characters, none of the most used passwords',
    unset: 'generated, and printed once',
    secret: true,
  }),
  SECRET_KEY: setting(z.string().min(32).nullable().default(null), {
    about: 'Root of the keys that encrypt exchange credentials and webhook keys at rest',
    takes: 'at least 32 characters, 8 of them different',
    unset: 'generated once into DATA_DIR/secret.key; required with DATABASE_URL',
    secret: true,
  }),
  SECRET_KEY_NEXT: setting(z.string().min(32).nullable().default(null), {
    about:
      'The key that npm run rotate-secret puts in the place of the current one; on all instances before it runs',
    takes: 'at least 32 characters, 8 of them different',
    unset: 'only the current key is known',
    secret: true,
  }),
  EXCHANGE_PROXY_URL: setting(list(isHttpUrl).default([]), {
    about: 'Forward proxies that all exchange calls go through',
    takes: 'http:// or https:// addresses, separated by commas',
    unset: 'exchange calls go out directly',
    secret: true,
  }),
  EXCHANGE_ADDRESS: setting(
    pattern(/^[\w.-]{1,40}$/)
      .nullable()
      .default(null),
    {
      about:
        'Name of the public address by which this instance calls exchanges without a proxy: instances with different names have request limits of their own',
      takes: '1 to 40 letters, digits, dots, hyphens or underscores',
      unset: 'all instances count as one address',
    },
  ),
  BITGET_BASE_URL: setting(origin(), {
    about: "Another origin for Bitget's REST API, for tests",
    takes: ORIGIN,
    unset: "the exchange's own",
  }),
  BYBIT_BASE_URL: setting(origin(), {
    about: "Another origin for Bybit's REST API, for tests",
    takes: ORIGIN,
    unset: "the exchange's own",
  }),
  EXCHANGE_TIMEOUT_MS: setting(wholeNumber(100, 120_000).default(10_000), {
    about: 'Deadline of one exchange call, its whole body included',
    takes: 'milliseconds from 100 to 120000',
    unset: '10000',
  }),
  VERIFY_FIRST_MS: wait('Wait before the first order attempt is checked', '10000 manual, 5000 automatic'),
  VERIFY_SECOND_MS: wait('Wait before the second order attempt is checked', '15000 manual, 8000 automatic'),
  CANCEL_DELAY_MS: wait('Wait after a cancel before the order is read once more', '2000'),
  SIGNAL_MAX_AGE_MINUTES: setting(wholeNumber(1, 10_080).default(30), {
    about: 'A signal received longer ago than this is not traded automatically',
    takes: 'minutes from 1 to 10080',
    unset: '30',
  }),
  PAPER_BALANCE: setting(
    pattern(/^\d{1,12}(\.\d{1,8})?$/)
      .refine((text) => Number(text) > 0)
      .default('10000'),
    { about: 'USDT in a new paper account', takes: 'a positive amount such as 10000', unset: '10000' },
  ),
  TRUST_PROXY: setting(list((item) => isProxyRange(item) || PROXY_GROUPS.includes(item)).default([]), {
    about: 'Reverse proxies whose X-Forwarded-For is believed',
    takes: `IP addresses, CIDR ranges or ${PROXY_GROUPS.join(', ')}, separated by commas`,
    unset: 'none',
  }),
  WEBHOOK_ALLOWED_IPS: setting(list((item) => isAddressRange(item) || item === 'tradingview').default([]), {
    about: 'Only these addresses may post to /hooks; tradingview stands for its four published addresses',
    takes: 'IP addresses, CIDR ranges or tradingview, separated by commas',
    unset: 'any address',
  }),
  WEBHOOK_RATE_LIMIT: setting(wholeNumber(0, 1_000_000).default(600), {
    about: 'Deliveries a minute that one webhook key may make; 0 means no limit',
    takes: 'a whole number from 0 to 1000000',
    unset: '600',
  }),
  PRICE_LOG_RETENTION_DAYS: retention('Days that price logs are kept; older ones go a month at a time'),
  DELIVERY_RETENTION_DAYS: retention(
    'Days that the log of webhook deliveries is kept; older ones go a month at a time',
    { unset: 90 },
  ),
  SIGNAL_HASH_RETENTION_DAYS: retention(
    'Days for which a signal with a time of its own is known when it comes again',
    { least: OLDEST_SIGNAL_DAYS },
  ),
  WORKFLOW_RETENTION_DAYS: retention('Days that ended workflows are kept, with their steps and users'),
  WORKFLOW_STEP_RETENTION_DAYS: retention('Days that the steps of ended workflows are kept'),
  CALCULATION_RETENTION_DAYS: retention('Days that calculations are kept that no order was made of'),
  ORDER_EVENT_RETENTION_DAYS: retention('Days that the calls and timelines of ended orders are kept'),
  DISPLAY_TIMEZONE: setting(z.string().refine(isTimezone).default('America/Los_Angeles'), {
    about: "Time zone of every screen, of 'Today's Signals' and of the names of CSV files",
    takes: 'an IANA time zone such as Europe/Berlin',
    unset: 'America/Los_Angeles',
  }),
  METRICS_TOKEN: setting(z.string().min(16).nullable().default(null), {
    about: 'Bearer token for /metrics',
    takes: 'at least 16 characters',
    unset: '/metrics answers loopback only',
    secret: true,
  }),
  NOTIFY_PRIVATE_ADDRESSES: setting(z.enum(['allowed', 'refused']).default('refused'), {
    about:
      'Whether notification channels may send to private, loopback and link-local addresses, and without TLS',
    takes: 'allowed or refused',
    unset: 'refused',
  }),
  HEARTBEAT_URL: setting(z.string().max(2_000).refine(isHttpUrl).nullable().default(null), {
    about:
      'An address that is fetched every minute while the program is ready, so that an outside watcher tells when the program is gone',
    takes: 'an http:// or https:// address',
    unset: 'no heartbeat is sent',
    secret: true,
  }),
  TELEGRAM_BASE_URL: setting(origin(), {
    about: 'Another origin for the Telegram Bot API, for a Bot API server of your own',
    takes: ORIGIN,
    unset: "Telegram's own",
  }),
  LOG_LEVEL: setting(z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'), {
    about: 'How much is logged',
    takes: 'trace, debug, info, warn, error, fatal or silent',
    unset: 'info',
  }),
});

export type Settings = z.output<typeof settingsSchema>;

export const settings: readonly SettingDescription[] = Object.entries(settingsSchema.shape).map(
  ([name, schema]) => {
    const notes = notesOf.get(schema);
    if (!notes) throw new Error(`The setting ${name} has no description`);
    return { name, ...notes };
  },
);

/** The text of `npm start -- --help`. */
export function describeSettings(): string {
  const lines = settings.flatMap(({ name, about, takes, unset }) => [
    `  ${name}`,
    `      ${about}.`,
    `      Takes ${takes}. Unset: ${unset}.`,
  ]);
  return ['Settings, read from the environment and from the file .env:', '', ...lines].join('\n');
}
