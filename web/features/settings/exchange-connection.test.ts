import { expect, test } from 'vitest';
import { credentialErrors, credentialsBody, EMPTY_CREDENTIALS } from './exchange-connection.ts';

test('reports each missing field with its own text, and requires a passphrase only for Bitget', () => {
  const missing = { apiKey: 'API key is required', apiSecret: 'API secret is required' };
  expect(credentialErrors(EMPTY_CREDENTIALS, 'Bitget')).toEqual({
    ...missing,
    passphrase: 'Passphrase is required for Bitget',
  });
  expect(credentialErrors(EMPTY_CREDENTIALS, 'Bybit')).toEqual(missing);
  expect(credentialErrors({ apiKey: ' ', apiSecret: 's', passphrase: 'p' }, 'Bitget')).toEqual({
    apiKey: 'API key is required',
  });
});

test('sends a passphrase only to an exchange that needs one', () => {
  const values = { apiKey: 'k', apiSecret: 's', passphrase: 'p' };
  expect(credentialsBody(values, 'Bitget')).toEqual({ exchangePlatform: 'Bitget', ...values });
  expect(credentialsBody(values, 'Bybit')).toEqual({
    exchangePlatform: 'Bybit',
    apiKey: 'k',
    apiSecret: 's',
  });
});
