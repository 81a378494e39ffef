import { executionLogs, positionMakerStatus, restartAnswer, restartBody } from '#contract/position-maker.ts';
import type { Deps } from '#server/deps.ts';
import { restartSystem } from '#server/engine/orders/restart.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { listExecutionLogs } from './execution-log.ts';
import { readSystemStatus } from './system-status.ts';

const config = { access: 'admin' } as const;
const tags = ['position maker'];

export function registerSystemStatusRoutes(app: App, deps: Pick<Deps, 'db' | 'log'>): void {
  app.get(
    '/api/position-maker/status',
    { config, schema: { tags, response: { 200: positionMakerStatus } } },
    () => readSystemStatus(deps.db),
  );

  app.get('/api/position-maker/logs', { config, schema: { tags, response: { 200: executionLogs } } }, () =>
    listExecutionLogs(deps.db),
  );

  app.post(
    '/api/position-maker/restart',
    { config, schema: { tags, body: restartBody, response: { 200: restartAnswer } } },
    (request) => restartSystem(deps, { requestedBy: getUser(request).id }),
  );
}
