import type { Deps } from './deps.ts';
import { registerAuthRoutes } from './features/auth/auth.routes.ts';
import { registerAutomationRoutes } from './features/automation/automation.routes.ts';
import { registerSignalOutcomeRoutes } from './features/automation/signal-outcomes.routes.ts';
import { registerEnvironmentRoutes } from './features/environment/environment.routes.ts';
import { registerEventRoutes } from './features/events/events.routes.ts';
import { registerExchangeCredentialRoutes } from './features/exchange-credentials/exchange-credentials.routes.ts';
import { registerHookRoutes } from './features/hooks/hooks.routes.ts';
import { registerIngestRoutes } from './features/ingest/ingest.routes.ts';
import { registerMetricsRoutes } from './features/metrics/metrics.routes.ts';
import { registerPositionGeneratorRoutes } from './features/position-generator/position-generator.routes.ts';
import { registerAccountBalanceRoutes } from './features/position-maker/account-balance.routes.ts';
import { registerOrderRoutes } from './features/position-maker/order.routes.ts';
import { registerSystemStatusRoutes } from './features/position-maker/system-status.routes.ts';
import { registerPositionRoutes } from './features/positions/positions.routes.ts';
import { registerPriceLogRoutes } from './features/price-logs/price-logs.routes.ts';
import { registerSettingsRoutes } from './features/settings/settings.routes.ts';
import { registerSignalRoutes } from './features/signals/signals.routes.ts';
import { registerTradingHaltRoutes } from './features/trading-halts/trading-halts.routes.ts';
import { registerUserRoutes } from './features/users/users.routes.ts';
import { registerHealthRoutes } from './platform/health.ts';
import { type App, createHttpApp } from './platform/http-app.ts';

/** The whole HTTP side: what all routes share, then every feature in its order. Testable without a port. */
export async function buildApp(deps: Deps, options: { webFolder?: string } = {}): Promise<App> {
  const app = await createHttpApp(deps, options);
  registerHealthRoutes(app, deps);
  registerUserRoutes(app, deps);
  registerAuthRoutes(app, deps);
  registerSettingsRoutes(app, deps);
  registerExchangeCredentialRoutes(app, deps);
  registerTradingHaltRoutes(app, deps);
  registerEnvironmentRoutes(app, deps);
  registerHookRoutes(app, deps);
  registerPriceLogRoutes(app, deps);
  registerSignalRoutes(app, deps);
  registerPositionGeneratorRoutes(app, deps);
  registerAccountBalanceRoutes(app, deps);
  registerOrderRoutes(app, deps);
  registerSystemStatusRoutes(app, deps);
  registerAutomationRoutes(app, deps);
  registerSignalOutcomeRoutes(app, deps);
  registerPositionRoutes(app, deps);
  registerIngestRoutes(app, deps);
  registerEventRoutes(app, deps);
  registerMetricsRoutes(app, deps);
  await app.ready();
  return app;
}
