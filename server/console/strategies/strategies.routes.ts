import { eq } from 'drizzle-orm';
import { processorParams } from '#contract/risk-limits.ts';
import { strategiesAnswer, strategyBody } from '#contract/strategies.ts';
import { strategyKey } from '#domain/limits/risk-limits.ts';
import { readEntriesNow, readScope } from '#server/console/limits/read-scope.ts';
import type { Deps } from '#server/deps.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { changedFields } from '#server/platform/audit/audit-values.ts';
import { strategies } from '#server/platform/db/schema.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listStrategies } from './strategies.store.ts';

const admin = routeOptions({ access: 'admin', tags: ['strategies'] });

export function registerStrategyRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db'>,
): void {
  const { db, clock } = deps;

  async function readAll() {
    const [rows, entries] = await Promise.all([listStrategies(db, clock.now()), readEntriesNow(deps)]);
    const limitsOf = (strategy: string) => readScope(deps, { kind: 'strategy', value: strategy }, entries);
    return {
      program: await readScope(deps, { kind: 'program', value: '' }, entries),
      strategies: await Promise.all(
        rows.map(async ({ strategy, lastToken, lastAction, lastAt, subscribers, ...row }) => ({
          ...row,
          lastSignal:
            lastToken === null || lastAction === null || lastAt === null
              ? null
              : { token: lastToken, action: lastAction, at: new Date(lastAt).toISOString() },
          subscribers: subscribers ?? [],
          limits: await limitsOf(strategy),
        })),
      ),
    };
  }

  app.get('/api/strategies', admin({ answer: strategiesAnswer }), readAll);

  app.put(
    '/api/strategies/:processor',
    admin({
      write: { stepUp: 'outsidePaper', audit: ['strategy changed'], token: 'admin' },
      params: processorParams,
      body: strategyBody,
      answer: strategiesAnswer,
    }),
    async (request) => {
      const strategy = strategyKey(request.params.processor);
      const { maxSignalAgeSeconds } = request.body;
      if (maxSignalAgeSeconds === undefined) return await readAll();
      await db.transaction(async (tx) => {
        const [before] = await tx
          .select()
          .from(strategies)
          .where(eq(strategies.strategy, strategy))
          .for('update');
        const set = { maxSignalAgeSeconds, updatedAt: clock.now() };
        await tx
          .insert(strategies)
          .values({ strategy, ...set })
          .onConflictDoUpdate({ target: strategies.strategy, set });
        const changed = changedFields(
          { maxSignalAgeSeconds: before?.maxSignalAgeSeconds ?? null },
          { maxSignalAgeSeconds },
        );
        if (changed === null) return;
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'strategy changed',
          subject: { kind: 'strategy', id: strategy, name: request.params.processor },
          ...changed,
        });
      });
      return await readAll();
    },
  );
}
