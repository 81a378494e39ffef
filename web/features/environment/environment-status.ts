import { queryOptions, useQuery } from '@tanstack/react-query';
import type { EnvironmentStatus } from '#contract/environment.ts';
import { requestJson } from '../../lib/api-client.ts';

const REFRESH_MS = 30_000;

const environmentQuery = queryOptions({
  queryKey: ['/api/environment/status'],
  queryFn: ({ signal }) => requestJson<EnvironmentStatus>('/api/environment/status', { signal }),
  refetchInterval: REFRESH_MS,
});

/** Administrators only; polled while a screen shows it. */
export const useEnvironmentStatus = () => useQuery(environmentQuery);

/** The server refuses manual triggers in a production deployment as well. */
export const areManualTriggersDisabled = (status: EnvironmentStatus | undefined): boolean =>
  status?.environment === 'production' && status.isDeployment;
