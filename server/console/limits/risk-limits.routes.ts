import type { FastifyRequest } from 'fastify';
import { idParams } from '#contract/paging.ts';
import {
  processorParams,
  type RiskLimitsAnswer,
  type RiskLimitsBody,
  riskLimits,
  riskLimitsAnswer,
} from '#contract/risk-limits.ts';
import { loosenedField, type RiskScope, strategyKey } from '#domain/limits/risk-limits.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import { createScopeFlattener } from '#server/console/positions/flatten-scope.ts';
import type { Deps } from '#server/deps.ts';
import { replaceRiskLimits, resetRiskLimits } from '#server/engine/limits/risk-limits.store.ts';
import { scopeTitle } from '#server/engine/limits/scope-title.ts';
import { createLimitWatch } from '#server/engine/limits/watch-limits.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { changedFields } from '#server/platform/audit/audit-values.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import type { WriteRule } from '#server/platform/http/write-rules.ts';
import { readScope } from './read-scope.ts';

type LimitDeps = Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'jobs' | 'log'>;

const PROGRAM: RiskScope = { kind: 'program', value: '' };
const change: WriteRule = { stepUp: 'handler', audit: ['risk limits changed'], token: 'admin' };
const reset: WriteRule = { stepUp: 'always', audit: ['risk limits reset'], token: 'admin' };

export function registerRiskLimitRoutes(app: App, deps: LimitDeps): void {
  const tags = ['risk limits'];
  const admin = routeOptions({ access: 'admin', tags });
  const user = routeOptions({ access: 'user', tags });
  const watch = createLimitWatch({ ...deps, flattener: createScopeFlattener(deps) });
  const strategyOf = (processor: string): RiskScope => ({ kind: 'strategy', value: strategyKey(processor) });

  /** Others than administrators see and change only their own. */
  async function userScope(request: FastifyRequest, id: string): Promise<RiskScope> {
    const caller = getUser(request);
    if (!caller.isAdmin && caller.id !== id) throw new AppError('userNotFound');
    required(await findUser(deps.db, id), 'userNotFound');
    return { kind: 'user', value: id };
  }

  const answer = riskLimitsAnswer;
  const body = riskLimits;
  app.get('/api/risk-limits', admin({ answer }), () => readScope(deps, PROGRAM));
  app.put('/api/risk-limits', admin({ write: change, body, answer }), (request) =>
    write(request, PROGRAM, request.body),
  );
  app.post('/api/risk-limits/reset', admin({ write: reset, answer }), (request) => lift(request, PROGRAM));

  const ofStrategy = { params: processorParams, answer };
  app.get('/api/risk-limits/strategies/:processor', admin(ofStrategy), ({ params }) =>
    readScope(deps, strategyOf(params.processor)),
  );
  app.put(
    '/api/risk-limits/strategies/:processor',
    admin({ write: change, body, ...ofStrategy }),
    (request) => write(request, strategyOf(request.params.processor), request.body),
  );
  app.post(
    '/api/risk-limits/strategies/:processor/reset',
    admin({ write: reset, ...ofStrategy }),
    (request) => lift(request, strategyOf(request.params.processor)),
  );

  const ofUser = { params: idParams, answer };
  app.get('/api/risk-limits/users/:id', user(ofUser), async (request) =>
    readScope(deps, await userScope(request, request.params.id)),
  );
  app.put('/api/risk-limits/users/:id', user({ write: change, body, ...ofUser }), async (request) =>
    write(request, await userScope(request, request.params.id), request.body),
  );
  app.post('/api/risk-limits/users/:id/reset', admin({ write: reset, ...ofUser }), async (request) =>
    lift(request, await userScope(request, request.params.id)),
  );

  async function write(
    request: FastifyRequest,
    scope: RiskScope,
    after: RiskLimitsBody,
  ): Promise<RiskLimitsAnswer> {
    if (scope.kind === 'program' && after.schedule !== null) {
      throw refused('schedule', 'schedule belongs to a strategy or a user');
    }
    const now = deps.clock.now();
    const { id: by, isAdmin } = getUser(request);
    await deps.db.transaction(async (tx) => {
      const { before } = await replaceRiskLimits(tx, {
        scope,
        by,
        now,
        changeOf(before) {
          const loosened = loosenedField(before, after);
          if (loosened === null) return after;
          if (!isAdmin) {
            throw refused(loosened, `${loosened} may only be tightened: an administrator can loosen it`);
          }
          if (deps.config.exchangeMode !== 'paper') requireStepUp(request, now);
          return after;
        },
      });
      const changed = changedFields(before, after);
      if (changed === null) return;
      await deps.audit.record(tx, {
        actor: actorOf(request, deps.config),
        action: 'risk limits changed',
        subject: { kind: 'risk limits', id: scope.value || null, name: await scopeTitle(tx, scope) },
        ...changed,
      });
    });
    await compareNow();
    return await readScope(deps, scope);
  }

  async function lift(request: FastifyRequest, scope: RiskScope): Promise<RiskLimitsAnswer> {
    // The loss so far is that of the moment.
    await compareNow();
    const by = getUser(request).id;
    await deps.db.transaction(async (tx) => {
      const ended = await resetRiskLimits(tx, { scope, by, now: deps.clock.now() });
      await deps.audit.record(tx, {
        actor: actorOf(request, deps.config),
        action: 'risk limits reset',
        subject: { kind: 'risk limits', id: scope.value || null, name: await scopeTitle(tx, scope) },
        before: { reached: ended.map(({ limit }) => limit) },
      });
    });
    await compareNow();
    return await readScope(deps, scope);
  }

  /** What was changed is saved: a comparison that fails is made again in a moment. */
  const compareNow = () =>
    watch
      .run()
      .catch((error: unknown) => deps.log.warn({ err: error }, 'the risk limits could not be compared'));
}

const refused = (path: string, message: string) =>
  new AppError('badRequest', { message, errors: [{ path, message }] });
