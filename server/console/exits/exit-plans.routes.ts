import type { FastifyRequest } from 'fastify';
import {
  applyExitPlanAnswer,
  applyExitPlanBody,
  calculationExitsAnswer,
  calculationExitsQuery,
  type ExitPlanAnswer,
  exitPlanAnswer,
  exitPlanBody,
  toExitPlan,
} from '#contract/exit-plans.ts';
import { idParams } from '#contract/paging.ts';
import { processorParams } from '#contract/risk-limits.ts';
import { type ExitPlan, partsBeyondTarget } from '#domain/exits/exit-plan.ts';
import { farthestTargetAtR } from '#domain/exits/target-ratio.ts';
import { strategyKey } from '#domain/limits/risk-limits.ts';
import { isSizingMethod } from '#domain/user-settings.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { Deps } from '#server/deps.ts';
import { findExitPlan, type PlanScope, replaceExitPlan } from '#server/engine/exits/exit-plans.store.ts';
import { scopeTitle } from '#server/engine/limits/scope-title.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { changedFields } from '#server/platform/audit/audit-values.ts';
import { getUser, requireStepUp } from '#server/platform/http/access.ts';
import { AppError, invalidFields, required } from '#server/platform/http/errors.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import type { WriteRule } from '#server/platform/http/write-rules.ts';
import { applyExitPlan } from './apply-exit-plan.ts';
import { planCalculationExits } from './plan-calculation-exits.ts';

const change: WriteRule = { stepUp: 'outsidePaper', audit: ['exit plan changed'], token: 'admin' };
/** A preview changes nothing. */
const apply: WriteRule = { stepUp: 'handler', audit: ['exit plan applied'], token: 'trade' };

export function registerExitPlanRoutes(
  app: App,
  deps: Pick<Deps, 'accountGuard' | 'audit' | 'clock' | 'config' | 'db' | 'exchanges' | 'findAccount'>,
): void {
  const { db } = deps;
  const tags = ['exit plans'];
  const admin = routeOptions({ access: 'admin', tags });
  const user = routeOptions({ access: 'user', tags });
  const answer = exitPlanAnswer;
  const body = exitPlanBody;

  const strategyOf = (processor: string): PlanScope => ({ kind: 'strategy', value: strategyKey(processor) });

  /** Others than administrators see and change only their own. */
  async function userScope(request: FastifyRequest, id: string): Promise<PlanScope> {
    const caller = getUser(request);
    if (!caller.isAdmin && caller.id !== id) throw new AppError('userNotFound');
    required(await findUser(db, id), 'userNotFound');
    return { kind: 'user', value: id };
  }

  const ofStrategy = { params: processorParams, answer };
  const strategyPath = '/api/exit-plans/strategies/:processor';
  app.get(strategyPath, admin(ofStrategy), ({ params }) => read(strategyOf(params.processor)));
  app.put(strategyPath, admin({ write: change, body, ...ofStrategy }), (request) =>
    write(request, strategyOf(request.params.processor), toExitPlan(request.body)),
  );
  app.delete(strategyPath, admin({ write: change, ...ofStrategy }), (request) =>
    write(request, strategyOf(request.params.processor), null),
  );

  const ofUser = { params: idParams, answer };
  const userPath = '/api/exit-plans/users/:id';
  app.get(userPath, user(ofUser), async (request) => read(await userScope(request, request.params.id)));
  app.put(userPath, user({ write: change, body, ...ofUser }), async (request) =>
    write(request, await userScope(request, request.params.id), toExitPlan(request.body)),
  );
  app.delete(userPath, user({ write: change, ...ofUser }), async (request) =>
    write(request, await userScope(request, request.params.id), null),
  );

  app.get(
    '/api/exit-plans/calculations/:id',
    admin({ params: idParams, querystring: calculationExitsQuery, answer: calculationExitsAnswer }),
    ({ params: { id }, query }) => planCalculationExits(deps, { id, ...query }),
  );

  app.post(
    '/api/exit-plans/apply',
    admin({ write: apply, body: applyExitPlanBody, answer: applyExitPlanAnswer }),
    async (request) => {
      const { scope: of, preview } = request.body;
      if (!preview && deps.config.exchangeMode !== 'paper') requireStepUp(request, deps.clock.now());
      const scope = of.kind === 'strategy' ? strategyOf(of.value) : await userScope(request, of.value);
      const audit = { actor: actorOf(request, deps.config), subject: await subjectOf(scope) };
      return await applyExitPlan(deps, { scope, preview, audit });
    },
  );

  async function read(scope: PlanScope): Promise<ExitPlanAnswer> {
    const plan = await findExitPlan(db, scope);
    return {
      scope: { ...scope, title: await scopeTitle(db, scope) },
      plan: plan === null ? null : { ...plan, takeProfits: [...plan.takeProfits] },
    };
  }

  async function write(
    request: FastifyRequest,
    scope: PlanScope,
    plan: ExitPlan | null,
  ): Promise<ExitPlanAnswer> {
    if (plan !== null) await refuseBeyondTarget(scope, plan);
    await db.transaction(async (tx) => {
      const before = await replaceExitPlan(tx, { scope, plan, now: deps.clock.now() });
      const changed = changedFields({ plan: shown(before) }, { plan: shown(plan) });
      if (changed === null) return;
      await deps.audit.record(tx, {
        actor: actorOf(request, deps.config),
        action: 'exit plan changed',
        subject: await subjectOf(scope),
        ...changed,
      });
    });
    return await read(scope);
  }

  /** A part that no calculation's target would leave anything of. */
  async function refuseBeyondTarget(scope: PlanScope, plan: ExitPlan): Promise<void> {
    const settings = scope.kind === 'user' ? await findTradingSettings(db, scope.value) : null;
    const method = settings?.positionSizingMethod ?? null;
    const known = method !== null && isSizingMethod(method) ? method : null;
    const problems = partsBeyondTarget(plan, farthestTargetAtR(known));
    if (problems.length === 0) return;
    throw invalidFields(problems.map(({ field, message }) => ({ path: field, message })));
  }

  const subjectOf = async (scope: PlanScope) =>
    ({ kind: 'exit plan', id: scope.value, name: await scopeTitle(db, scope) }) as const;
}

const shown = (plan: ExitPlan | null): string | null => (plan === null ? null : JSON.stringify(plan));
