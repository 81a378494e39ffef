import type { Deps } from '#server/deps.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { createBoardMetrics } from './board-metrics.ts';

/** What Prometheus reads. No user, key or token of anybody's is in it; see docs/operations.md. */
export function registerMetricsRoutes(app: App, deps: Deps): void {
  const board = createBoardMetrics(deps);
  app.get('/metrics', { config: { access: 'metrics' }, schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .type(board.contentType)
      .send(await board.text()),
  );
}
