import { z } from 'zod';
import type { App } from './http-app.ts';

interface Readiness {
  ready: boolean;
  checks: Record<string, boolean>;
}

const alive = z.object({ status: z.literal('ok') });
const readiness = z.object({ ready: z.boolean(), checks: z.record(z.string(), z.boolean()) });

/** /healthz: the process answers. /readyz: it can work; load balancers and start scripts wait for it. */
export function registerHealthRoutes(app: App, deps: { readiness: () => Promise<Readiness> }): void {
  app.get(
    '/healthz',
    { config: { access: 'public' }, schema: { response: { 200: alive } } },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store');
      return { status: 'ok' as const };
    },
  );

  app.get(
    '/readyz',
    { config: { access: 'public' }, schema: { response: { 200: readiness, 503: readiness } } },
    async (_request, reply) => {
      const state = await deps.readiness();
      return reply
        .header('cache-control', 'no-store')
        .code(state.ready ? 200 : 503)
        .send(state);
    },
  );
}
