import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  ConnectionTest,
  ExchangeCredentials,
  ExchangeCredentialsBody,
  SavedExchangeCredentials,
} from '#contract/exchange-credentials.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { requestJson, withParams } from '../../lib/api-client.ts';
import { settingsPath } from './get-settings.ts';

/** Whose connection, and to which exchange. */
export interface ConnectionOf {
  userId: string | null;
  exchangePlatform: ExchangePlatform;
}

const credentialsPath = (userId: string | null) => `${settingsPath(userId)}/exchange-credentials`;

const credentialsKey = ({ userId, exchangePlatform }: ConnectionOf) =>
  [credentialsPath(userId), { exchangePlatform }] as const;

export function useExchangeCredentials(connection: ConnectionOf) {
  const [path, params] = credentialsKey(connection);
  return useQuery({
    queryKey: [path, params],
    queryFn: ({ signal }) => requestJson<ExchangeCredentials>(path, { params, signal }),
    gcTime: 0,
  });
}

/** The body is read when it is sent: a mutation's variables would stay in memory, and these are secrets. */
export function useSaveCredentials(connection: ConnectionOf, readBody: () => ExchangeCredentialsBody) {
  const client = useQueryClient();
  const [path, params] = credentialsKey(connection);
  return useMutation({
    mutationFn: () => requestJson<SavedExchangeCredentials>(path, { method: 'PUT', body: readBody() }),
    onSuccess: ({ test: _test, ...credentials }) => client.setQueryData([path, params], credentials),
  });
}

export function useRemoveCredentials(connection: ConnectionOf) {
  const client = useQueryClient();
  const [path, params] = credentialsKey(connection);
  return useMutation({
    mutationFn: () => requestJson(withParams(path, params), { method: 'DELETE' }),
    onSuccess: () => client.invalidateQueries({ queryKey: [path] }),
  });
}

/** What it finds is kept with the key: a key that is refused is not traded with, one that works is again. */
export function useTestConnection(connection: ConnectionOf) {
  const client = useQueryClient();
  const [path, params] = credentialsKey(connection);
  return useMutation({
    mutationFn: () => requestJson<ConnectionTest>(withParams(`${path}/test`, params), { method: 'POST' }),
    onSuccess: () => client.invalidateQueries({ queryKey: [path] }),
  });
}
