import type {
  ConnectionTest,
  ExchangeCredentialsBody,
  SavedExchangeCredentials,
} from '#contract/exchange-credentials.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { ApiError } from '../../lib/api-client.ts';
import { formatPrice } from '../../lib/format.ts';

export const EMPTY_CREDENTIALS = { apiKey: '', apiSecret: '', passphrase: '' };

export type CredentialValues = typeof EMPTY_CREDENTIALS;

export const needsPassphrase = (platform: ExchangePlatform): boolean => platform === 'Bitget';

/** Checks only for missing fields; the server judges the format of a key. */
export function credentialErrors(
  values: CredentialValues,
  platform: ExchangePlatform,
): Partial<Record<keyof CredentialValues, string>> {
  return {
    ...(values.apiKey.trim() === '' ? { apiKey: 'API key is required' } : {}),
    ...(values.apiSecret.trim() === '' ? { apiSecret: 'API secret is required' } : {}),
    ...(needsPassphrase(platform) && values.passphrase.trim() === ''
      ? { passphrase: 'Passphrase is required for Bitget' }
      : {}),
  };
}

/** Omits a passphrase that was typed before switching to an exchange without one. */
export function credentialsBody(
  { apiKey, apiSecret, passphrase }: CredentialValues,
  exchangePlatform: ExchangePlatform,
): ExchangeCredentialsBody {
  return {
    exchangePlatform,
    apiKey,
    apiSecret,
    ...(needsPassphrase(exchangePlatform) ? { passphrase } : {}),
  };
}

/** The server's refusals by field. */
export function refusedFields(error: unknown): Record<string, string> {
  const errors = error instanceof ApiError ? (error.body?.errors ?? []) : [];
  return Object.fromEntries(errors.map(({ path, message }) => [path, message]));
}

/** Result of the last save or test, shown on the card until the next one. */
export interface ConnectionOutcome {
  color: 'teal' | 'yellow' | 'red' | 'indigo';
  title: string;
  text: string;
}

export function outcomeOfTest(test: ConnectionTest): ConnectionOutcome {
  if (test.success) {
    const balance = formatPrice(test.futuresBalance);
    const available = formatPrice(test.futuresAvailable);
    return {
      color: 'teal',
      title: test.message,
      text: `Futures balance ${balance}, available ${available} (USDT)`,
    };
  }
  return test.error === 'unreachable'
    ? { color: 'yellow', title: 'Not tested', text: test.message }
    : { color: 'red', title: 'The connection does not work', text: test.message };
}

export function outcomeOfSave({ test }: SavedExchangeCredentials): ConnectionOutcome {
  if (test === null) {
    return {
      color: 'indigo',
      title: 'Saved',
      text: 'Paper trading needs no credentials: they are used once the system trades in demo or live mode.',
    };
  }
  if (test.success) return outcomeOfTest(test);
  return {
    color: 'yellow',
    title: test.error === 'unreachable' ? 'Saved, but not tested' : 'Saved, but the connection does not work',
    text: test.message,
  };
}
