import { attentionAnswer } from '#contract/attention.ts';
import type { Deps } from '#server/deps.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { collectConditions } from './collect-conditions.ts';

export function registerAttentionRoutes(app: App, deps: Pick<Deps, 'attentionSources' | 'log'>): void {
  app.get(
    '/api/attention',
    { config: { access: 'admin' }, schema: { response: { 200: attentionAnswer } } },
    async () => ({
      conditions: await collectConditions({ sources: deps.attentionSources, log: deps.log }),
    }),
  );
}
