import { useQuery } from '@tanstack/react-query';
import type { EnvironmentStatus } from '#contract/environment.ts';

const REFRESH_MS = 30_000;

/** For administrators only; polled while a screen shows it. */
export const useEnvironmentStatus = () =>
  useQuery<EnvironmentStatus>({ queryKey: ['/api/environment/status'], refetchInterval: REFRESH_MS });

/** The server also refuses manual triggers in a production deployment. */
export const areManualTriggersDisabled = (status: EnvironmentStatus | undefined): boolean =>
  status?.environment === 'production' && status.isDeployment;
