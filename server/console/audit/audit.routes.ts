import { Readable } from 'node:stream';
import { auditAnswer, auditFilter, auditQuery } from '#contract/audit.ts';
import type { Deps } from '#server/deps.ts';
import { exportLines } from '#server/platform/audit/audit-export.ts';
import { readAuditRows } from '#server/platform/audit/audit-rows.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listAuditEntries, matchEntries } from './audit.store.ts';

const TAGS = ['audit'];

/** The audit trail: as a list, and whole for `npm run audit:verify`. */
export function registerAuditRoutes(app: App, deps: Pick<Deps, 'clock' | 'db'>): void {
  const admin = routeOptions({ access: 'admin', tags: TAGS });

  app.get('/api/audit', admin({ querystring: auditQuery, answer: auditAnswer }), ({ query }) =>
    listAuditEntries(deps.db, query),
  );

  app.get(
    '/api/audit/export',
    {
      config: { access: 'admin' },
      // It would read the whole trail for nothing.
      exposeHeadRoute: false,
      schema: {
        tags: TAGS,
        summary: 'Whole entries as newline-delimited JSON, which npm run audit:verify reads',
        querystring: auditFilter,
      },
    },
    (request, reply) => {
      const { query } = request;
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value instanceof Date ? value.toISOString() : value]],
      );
      const exportedAt = deps.clock.now().toISOString();
      const filter = given.length === 0 ? null : Object.fromEntries(given);
      const lines = exportLines(readAuditRows(deps.db, matchEntries(query)), { exportedAt, filter });
      return reply
        .type('application/x-ndjson')
        .header('content-disposition', `attachment; filename="audit-${exportedAt.slice(0, 10)}.ndjson"`)
        .send(Readable.from(lines));
    },
  );
}
