import type { Deps } from './deps.ts';
import { registerAuthRoutes } from './features/auth/auth.routes.ts';
import { registerAutomationRoutes } from './features/automation/automation.routes.ts';
import { registerSignalOutcomeRoutes } from './features/automation/signal-outcomes.routes.ts';
import { registerEnvironmentRoutes } from './features/environment/environment.routes.ts';
import { registerHookRoutes } from './features/hooks/hooks.routes.ts';
import { registerIngestRoutes } from './features/ingest/ingest.routes.ts';
import { registerAccountBalanceRoutes } from './features/position-maker/account-balance.routes.ts';
import { registerPriceLogRoutes } from './features/price-logs/price-logs.routes.ts';
import { registerSettingsRoutes } from './features/settings/settings.routes.ts';
import { registerSignalRoutes } from './features/signals/signals.routes.ts';
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
  registerEnvironmentRoutes(app, deps);
  registerHookRoutes(app, deps);
  registerPriceLogRoutes(app, deps);
  registerSignalRoutes(app, deps);
  registerAccountBalanceRoutes(app, deps);
  registerAutomationRoutes(app, deps);
  registerSignalOutcomeRoutes(app, deps);
  registerIngestRoutes(app, deps);
  await app.ready();
  return app;
}
