import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { hasCode, StartError } from '../db/start-error.ts';
import { PASSWORD_COST, type PasswordCost } from '../password.ts';
import { type Settings, settings, settingsSchema, TRADINGVIEW_ADDRESSES } from './config-settings.ts';
import { unknownSettings } from './unknown-settings.ts';

type CamelCase<Name extends string> = Name extends `${infer Word}_${infer Rest}`
  ? `${Lowercase<Word>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;
type PlainSettings = { [Name in keyof Settings as CamelCase<Name>]: Settings[Name] };

/** The settings with camel-case names. `null` means unset. Retention days of 0 keep everything. */
export interface Config
  extends Omit<PlainSettings, 'autoTrade' | 'readAhead' | 'instanceId' | 'exchangeProxyUrl'> {
  /** `enabled` already requires `appEnv` production; `configured` says whether somebody decided it. */
  autoTrade: { enabled: boolean; configured: boolean };
  readAhead: boolean;
  instanceId: string;
  exchangeProxyUrls: string[];
  /** Discards what is sealed with the former key. */
  isNewSecretKey: boolean;
  /** Not a setting: tests that create many users lower it. */
  passwordCost: PasswordCost;
}

const NEW_SECRET_KEY = '--new-secret-key';

type Environment = Record<string, string | undefined>;

/** A setting that the program cannot start with. */
export class ConfigError extends StartError {
  override name = 'ConfigError';
}

/** Merges the environment with the `.env` file of the folder; the environment wins. */
export function readEnvironment(options: { env: Environment; folder: string }): Environment {
  let file: string;
  try {
    file = readFileSync(resolve(options.folder, '.env'), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return options.env;
    throw new ConfigError(`.env cannot be read (${String(error)})`);
  }
  return { ...parseEnv(file), ...options.env };
}

/** One line about names in the environment and `.env` that are no settings but look like mistyped ones. */
export const findUnknownSettings = (): string | null =>
  unknownSettings(Object.keys(readEnvironment({ env: process.env, folder: process.cwd() })));

/** The settings of this process. */
export const readConfig = (argv: readonly string[] = []): Config =>
  parseConfig(readEnvironment({ env: process.env, folder: process.cwd() }), argv);

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
  return {
    ...toConfig(value),
    isNewSecretKey: argv.includes(NEW_SECRET_KEY),
    passwordCost: PASSWORD_COST,
  };
}

function complaint(name: string, given: Record<string, string | undefined>): string {
  const notes = settings.find((one) => one.name === name);
  const got = given[name] ?? '';
  const hidden = `a hidden value of ${got.length} characters`;
  const shown = notes?.secret
    ? hidden
    : name.endsWith('_URL')
      ? (shownAddress(got) ?? hidden)
      : JSON.stringify(got);
  return `${name} is ${shown}; it takes ${notes?.takes}`;
}

/** An address without what may be a credential, such as the token in a path; null when that cannot be told. */
function shownAddress(text: string): string | null {
  if (!/[@/?#]/.test(text.replace(/^\w+:\/\//, ''))) return JSON.stringify(text);
  if (!URL.canParse(text) || new URL(text).host === '') return null;
  const { protocol, host } = new URL(text);
  return JSON.stringify(`${protocol}//${host}/…`);
}

const camelCase = (name: string) =>
  name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

function toConfig(value: Settings): Omit<Config, 'isNewSecretKey' | 'passwordCost'> {
  const named = Object.entries(value).map(([name, one]) => [camelCase(name), one]);
  const { exchangeProxyUrl, ...plain } = Object.fromEntries(named) as PlainSettings;
  const autoTrade = value.AUTO_TRADE ?? (value.EXCHANGE_MODE === 'paper' ? 'enabled' : 'disabled');
  return {
    ...plain,
    dataDir: resolve(value.DATA_DIR),
    autoTrade: {
      enabled: value.APP_ENV === 'production' && autoTrade === 'enabled',
      configured: value.AUTO_TRADE !== null || value.EXCHANGE_MODE === 'paper',
    },
    readAhead: value.READ_AHEAD === 'enabled',
    instanceId: value.INSTANCE_ID ?? randomUUID(),
    exchangeProxyUrls: exchangeProxyUrl,
    webhookAllowedIps: value.WEBHOOK_ALLOWED_IPS.flatMap((item) =>
      item === 'tradingview' ? [...TRADINGVIEW_ADDRESSES] : [item],
    ),
  };
}
