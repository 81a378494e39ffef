import { eq } from 'drizzle-orm';
import { processorParams } from '#contract/risk-limits.ts';
import { type StrategyBody, strategiesAnswer, strategyBody } from '#contract/strategies.ts';
import { strategyKey } from '#domain/limits/risk-limits.ts';
import type { TradingHours } from '#domain/limits/trading-hours.ts';
import { readEntriesNow, readScope } from '#server/console/limits/read-scope.ts';
import type { Deps } from '#server/deps.ts';
import { replaceRiskLimits } from '#server/engine/limits/risk-limits.store.ts';
import { actorOf } from '#server/platform/audit/audit-trail.ts';
import { changedFields } from '#server/platform/audit/audit-values.ts';
import type { Tx } from '#server/platform/db/database.ts';
import { strategies } from '#server/platform/db/schema.ts';
import { getUser } from '#server/platform/http/access.ts';
import type { App } from '#server/platform/http/http-app.ts';
import { routeOptions } from '#server/platform/http/route-options.ts';
import { listStrategies, trendOf } from './strategies.store.ts';

const admin = routeOptions({ access: 'admin', tags: ['strategies'] });

export function registerStrategyRoutes(
  app: App,
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db'>,
): void {
  const { db, clock } = deps;

  async function readAll() {
    const now = clock.now();
    const [rows, entries] = await Promise.all([listStrategies(db, now), readEntriesNow(deps)]);
    const limitsOf = (strategy: string) => readScope(deps, { kind: 'strategy', value: strategy }, entries);
    return {
      program: await readScope(deps, { kind: 'program', value: '' }, entries),
      strategies: await Promise.all(
        rows.map(async ({ strategy, lastToken, lastAction, lastAt, subscribers, steps, ...row }) => ({
          ...row,
          trend7d: trendOf(steps, now),
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
      const { schedule, ...settings } = request.body;
      const now = clock.now();
      const { id: by } = getUser(request);
      await db.transaction(async (tx) => {
        const changes = [
          Object.keys(settings).length === 0 ? null : await setStrategy(tx, { strategy, settings, now }),
          schedule === undefined ? null : await setSchedule(tx, { strategy, schedule, by, now }),
        ].filter((change) => change !== null);
        if (changes.length === 0) return;
        await deps.audit.record(tx, {
          actor: actorOf(request, deps.config),
          action: 'strategy changed',
          subject: { kind: 'strategy', id: strategy, name: request.params.processor },
          before: Object.assign({}, ...changes.map(({ before }) => before)),
          after: Object.assign({}, ...changes.map(({ after }) => after)),
        });
      });
      return await readAll();
    },
  );
}

async function setStrategy(
  tx: Tx,
  options: { strategy: string; settings: Omit<StrategyBody, 'schedule'>; now: Date },
) {
  const { strategy, settings, now } = options;
  const [row] = await tx.select().from(strategies).where(eq(strategies.strategy, strategy)).for('update');
  const set = { ...settings, updatedAt: now };
  await tx
    .insert(strategies)
    .values({ strategy, ...set })
    .onConflictDoUpdate({ target: strategies.strategy, set });
  const { maxSignalAgeSeconds = null, canary = null, rotation = false } = row ?? {};
  const before = { maxSignalAgeSeconds, canary, rotation };
  return changedFields(before, { ...before, ...settings });
}

async function setSchedule(
  tx: Tx,
  { strategy, schedule, by, now }: { strategy: string; schedule: TradingHours | null; by: string; now: Date },
) {
  const { before, after } = await replaceRiskLimits(tx, {
    scope: { kind: 'strategy', value: strategy },
    by,
    now,
    changeOf: (limits) => ({ ...limits, schedule }),
  });
  return changedFields({ schedule: before.schedule }, { schedule: after.schedule });
}
