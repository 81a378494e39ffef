import { type EnvironmentStatus, environmentStatus } from '#contract/environment.ts';
import type { Deps } from '#server/deps.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';

const PRODUCTION = 'production';

type StatusDeps = Pick<Deps, 'config' | 'clock' | 'readiness'>;

export function registerEnvironmentRoutes(app: App, deps: StatusDeps): void {
  const admin = routeOptions({ access: 'admin' });
  app.get('/api/environment/status', admin({ answer: environmentStatus }), () => readEnvironmentStatus(deps));
}

async function readEnvironmentStatus(deps: StatusDeps): Promise<EnvironmentStatus> {
  const { config } = deps;
  const { checks } = await deps.readiness();
  const isDeployment = config.deploymentId !== null;
  return {
    environment: config.appEnv,
    nodeEnv: process.env.NODE_ENV ?? config.appEnv,
    isDeployment,
    isProduction: config.appEnv === PRODUCTION,
    autoTradeEnabled: config.appEnv === PRODUCTION && config.autoTrade.enabled,
    autoTradeConfigured: config.autoTrade.configured,
    canProcessSignals: checks.database && checks.positionMaker,
    serverInstanceId: config.instanceId,
    ...(config.deploymentId === null ? {} : { deploymentId: config.deploymentId }),
    hasDeploymentId: isDeployment,
    exchangeMode: config.exchangeMode,
    manualOrders: config.manualOrders,
    timestamp: deps.clock.now().toISOString(),
  };
}
