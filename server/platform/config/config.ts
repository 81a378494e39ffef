import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { type Settings, settings, settingsSchema, TRADINGVIEW_ADDRESSES } from './config-settings.ts';

export interface Config {
  host: string;
  port: number;
  /** The origin that browsers open; null: not said. */
  publicUrl: string | null;
  /** Absolute. */
  dataDir: string;
  /** null: the embedded database. */
  databaseUrl: string | null;
  appEnv: string;
  /** `enabled` already requires `appEnv` production; `configured` says whether somebody decided it. */
  autoTrade: { enabled: boolean; configured: boolean };
  exchangeMode: 'paper' | 'demo' | 'live';
  /** Decides in production outside paper mode, see `orderSubmissionAllowed`. */
  manualOrders: 'enabled' | 'disabled';
  deploymentId: string | null;
  instanceId: string;
  adminUsername: string;
  adminPassword: string | null;
  /** null: generated into the data folder, see `loadSecretKey`. */
  secretKey: string | null;
  /** What is sealed with the former one is given up. */
  isNewSecretKey: boolean;
  exchangeProxyUrls: string[];
  bitgetBaseUrl: string | null;
  bybitBaseUrl: string | null;
  exchangeTimeoutMs: number;
  verifyFirstMs: number | null;
  verifySecondMs: number | null;
  cancelDelayMs: number | null;
  signalMaxAgeMinutes: number;
  /** USDT, a decimal string. */
  paperBalance: string;
  trustProxy: string[];
  webhookAllowedIps: string[];
  webhookRateLimit: number;
  /** 0: all are kept. */
  priceLogRetentionDays: number;
  /** 0: all are kept. */
  deliveryRetentionDays: number;
  /** 0: all are kept. */
  signalHashRetentionDays: number;
  /** 0: all are kept. */
  workflowRetentionDays: number;
  /** 0: all are kept. */
  workflowStepRetentionDays: number;
  /** 0: all are kept. */
  calculationRetentionDays: number;
  /** 0: all are kept. */
  orderEventRetentionDays: number;
  displayTimezone: string;
  metricsToken: string | null;
  logLevel: Settings['LOG_LEVEL'];
}

const NEW_SECRET_KEY = '--new-secret-key';

export type Environment = Record<string, string | undefined>;

/** Its message is one line that an operator can act on; it is printed without a stack. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** The environment together with the file `.env` of the folder; the environment wins. */
export function readEnvironment(options: { env: Environment; folder: string }): Environment {
  let file: string;
  try {
    file = readFileSync(resolve(options.folder, '.env'), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT') return options.env;
    throw new ConfigError(`.env cannot be read (${String(code)})`);
  }
  return { ...parseEnv(file), ...options.env };
}

/** Parses every setting once. Throws a ConfigError that names the variable, what it got and what it takes. */
export function parseConfig(env: Environment, argv: readonly string[] = []): Config {
  const unknown = argv.find((argument) => argument !== NEW_SECRET_KEY);
  if (unknown !== undefined) {
    throw new ConfigError(`Unknown argument ${JSON.stringify(unknown)}; --help lists the settings`);
  }
  const given = Object.fromEntries(
    settings
      .map(({ name }) => [name, env[name]?.trim()] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(complaint(String(parsed.error.issues[0]?.path[0]), given));
  }
  const value = parsed.data;
  if (value.EXCHANGE_MODE === 'live' && value.APP_ENV !== 'production') {
    throw new ConfigError(
      `EXCHANGE_MODE is "live", which takes APP_ENV=production, and APP_ENV is ${JSON.stringify(value.APP_ENV)}`,
    );
  }
  if (value.DATABASE_URL !== null && value.SECRET_KEY === null) {
    throw new ConfigError(
      'SECRET_KEY is unset; with DATABASE_URL it is required and takes at least 32 characters',
    );
  }
  return { ...toConfig(value), isNewSecretKey: argv.includes(NEW_SECRET_KEY) };
}

function complaint(name: string, given: Record<string, string | undefined>): string {
  const notes = settings.find((one) => one.name === name);
  const got = given[name] ?? '';
  const shown = notes?.secret ? `a hidden value of ${got.length} characters` : JSON.stringify(got);
  return `${name} is ${shown}; it takes ${notes?.takes}`;
}

function toConfig(value: Settings): Omit<Config, 'isNewSecretKey'> {
  const autoTrade = value.AUTO_TRADE ?? (value.EXCHANGE_MODE === 'paper' ? 'enabled' : 'disabled');
  return {
    host: value.HOST,
    port: value.PORT,
    publicUrl: value.PUBLIC_URL,
    dataDir: resolve(value.DATA_DIR),
    databaseUrl: value.DATABASE_URL,
    appEnv: value.APP_ENV,
    autoTrade: {
      enabled: value.APP_ENV === 'production' && autoTrade === 'enabled',
      configured: value.AUTO_TRADE !== null || value.EXCHANGE_MODE === 'paper',
    },
    exchangeMode: value.EXCHANGE_MODE,
    manualOrders: value.MANUAL_ORDERS,
    deploymentId: value.DEPLOYMENT_ID,
    instanceId: value.INSTANCE_ID ?? randomUUID(),
    adminUsername: value.ADMIN_USERNAME,
    adminPassword: value.ADMIN_PASSWORD,
    secretKey: value.SECRET_KEY,
    exchangeProxyUrls: value.EXCHANGE_PROXY_URL,
    bitgetBaseUrl: value.BITGET_BASE_URL,
    bybitBaseUrl: value.BYBIT_BASE_URL,
    exchangeTimeoutMs: value.EXCHANGE_TIMEOUT_MS,
    verifyFirstMs: value.VERIFY_FIRST_MS,
    verifySecondMs: value.VERIFY_SECOND_MS,
    cancelDelayMs: value.CANCEL_DELAY_MS,
    signalMaxAgeMinutes: value.SIGNAL_MAX_AGE_MINUTES,
    paperBalance: value.PAPER_BALANCE,
    trustProxy: value.TRUST_PROXY,
    webhookAllowedIps: value.WEBHOOK_ALLOWED_IPS.flatMap((item) =>
      item === 'tradingview' ? [...TRADINGVIEW_ADDRESSES] : [item],
    ),
    webhookRateLimit: value.WEBHOOK_RATE_LIMIT,
    priceLogRetentionDays: value.PRICE_LOG_RETENTION_DAYS,
    deliveryRetentionDays: value.DELIVERY_RETENTION_DAYS,
    signalHashRetentionDays: value.SIGNAL_HASH_RETENTION_DAYS,
    workflowRetentionDays: value.WORKFLOW_RETENTION_DAYS,
    workflowStepRetentionDays: value.WORKFLOW_STEP_RETENTION_DAYS,
    calculationRetentionDays: value.CALCULATION_RETENTION_DAYS,
    orderEventRetentionDays: value.ORDER_EVENT_RETENTION_DAYS,
    displayTimezone: value.DISPLAY_TIMEZONE,
    metricsToken: value.METRICS_TOKEN,
    logLevel: value.LOG_LEVEL,
  };
}
