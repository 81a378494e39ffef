import { createHash } from 'node:crypto';
import { idParams, userIdParams } from '#contract/paging.ts';
import {
  statementAnswer,
  statementArchiveBody,
  statementArchiveStarted,
  statementArchivesAnswer,
  statementFeeBody,
  statementQuery,
} from '#contract/statements.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { getUser } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { oldestArchive } from './archive-statements.ts';
import { readStatement } from './read-statement.ts';
import { findArchive, listArchives, requestArchive } from './statement-archives.store.ts';
import { STYLE_OF_STATEMENTS, statementCsv, statementHtml } from './statement-files.ts';
import { readFeePercent, storeFeePercent } from './statements.store.ts';

const TAGS = ['statements'];
/** The page has one style sheet inside and nothing else. */
const STYLE_HASH = createHash('sha256').update(STYLE_OF_STATEMENTS).digest('base64');
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** Statements of a wallet by month: the caller's own, any user's for administrators, and all together for them. */
export function registerStatementRoutes(app: App, deps: Deps): void {
  const admin = routeOptions({ access: 'admin', tags: TAGS });

  app.get(
    '/api/statements/:userId',
    {
      config: { access: 'user' },
      exposeHeadRoute: false,
      schema: {
        tags: TAGS,
        summary: 'A month of a wallet, as JSON, CSV or a page that prints on A4',
        params: userIdParams,
        querystring: statementQuery,
      },
    },
    async (request, reply) => {
      const { month, format } = request.query;
      const { userId } = request.params;
      const caller = getUser(request);
      // Whether another user exists is not told.
      if (!caller.isAdmin && userId !== caller.id) throw new AppError('userNotFound');
      const { user } = required(await findUser(deps.db, userId), 'userNotFound');
      const statement = await readStatement(deps, user, month);
      if (format === 'json') return reply.send(statementAnswer.parse(statement));
      if (format === 'html') {
        return reply
          .type('text/html; charset=utf-8')
          .header('content-security-policy', PAGE_POLICY)
          .send(statementHtml(statement));
      }
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', `attachment; filename="statement-${statement.month}-${userId}.csv"`)
        .send(statementCsv(statement));
    },
  );

  app.get(
    '/api/admin/user/:userId/statement-fee',
    admin({ params: userIdParams, answer: statementFeeBody }),
    async ({ params: { userId } }) => {
      required(await findUser(deps.db, userId), 'userNotFound');
      return { percent: await readFeePercent(deps.db, userId) };
    },
  );

  app.put(
    '/api/admin/user/:userId/statement-fee',
    admin({
      write: { stepUp: 'outsidePaper', audit: ['settings changed'], token: 'admin' },
      params: userIdParams,
      body: statementFeeBody,
      answer: statementFeeBody,
    }),
    async (request) => {
      const { userId } = request.params;
      const { percent } = request.body;
      return await deps.db.transaction(async (tx) => {
        const { user } = required(await findUser(tx, userId), 'userNotFound');
        const before = await readFeePercent(tx, userId);
        await storeFeePercent(tx, { userId, percent, at: deps.clock.now() });
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'settings changed',
          subject: { kind: 'user', id: userId, name: user.username },
          before: { statementFeePercent: before },
          after: { statementFeePercent: percent },
        });
        return { percent };
      });
    },
  );

  app.post(
    '/api/admin/statement-archives',
    {
      config: {
        access: 'admin',
        write: { stepUp: 'never', audit: ['statements of all users requested'], token: 'admin' },
      },
      schema: {
        tags: TAGS,
        summary: 'Makes the statements of all users of a month, in one file',
        body: statementArchiveBody,
        response: { 202: statementArchiveStarted },
      },
    },
    async (request, reply) => {
      const { month } = request.body;
      const id = await deps.db.transaction(async (tx) => {
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'statements of all users requested',
          subject: { kind: 'installation', id: deps.config.instanceId, name: null },
          after: { month },
        });
        const requestedBy = getUser(request).id;
        return await requestArchive(tx, {
          id: timeOrderedId(),
          month,
          requestedBy,
          createdAt: deps.clock.now(),
        });
      });
      deps.onArchiveRequested();
      return reply.code(202).send({ id });
    },
  );

  app.get('/api/admin/statement-archives', admin({ answer: statementArchivesAnswer }), async () => ({
    archives: await listArchives(deps.db, oldestArchive(deps.clock.now())),
  }));

  app.get(
    '/api/admin/statement-archives/:id/download',
    {
      config: { access: 'admin' },
      exposeHeadRoute: false,
      schema: { tags: TAGS, summary: 'The statements as a ZIP file', params: idParams },
    },
    async (request, reply) => {
      const { id } = request.params;
      const endedAfter = oldestArchive(deps.clock.now());
      const { month, content } = required(
        await findArchive(deps.db, { id, endedAfter }),
        'statementArchiveNotFound',
      );
      return reply
        .type('application/zip')
        .header('content-disposition', `attachment; filename="statements-${month}.zip"`)
        .send(content);
    },
  );
}
