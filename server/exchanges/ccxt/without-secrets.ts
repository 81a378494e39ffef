import type { ExchangeCredentials } from '../exchange.ts';

/** Shorter ones could be words of the exchange's own, and are too short to be secrets. */
const SHORTEST_SECRET = 8;
const CENSOR = '[redacted]';

/** The text without the account's secrets: an exchange may repeat in a refusal what it was sent. */
export function withoutSecrets(text: string, credentials: ExchangeCredentials): string {
  const { apiKey, apiSecret, passphrase = '' } = credentials;
  return [apiKey, apiSecret, passphrase]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .reduce((clean, secret) => clean.replaceAll(secret, CENSOR), text);
}
