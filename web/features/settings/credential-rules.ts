import type { ExchangeCredentialsBody } from '#contract/exchange-credentials.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { ApiError } from '../../lib/api-client.ts';

export interface CredentialValues {
  apiKey: string;
  apiSecret: string;
  passphrase: string;
}

export const EMPTY_CREDENTIALS: CredentialValues = { apiKey: '', apiSecret: '', passphrase: '' };

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
