import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { exitPlans, signals } from '#server/platform/db/schema.ts';

/** Whose plan: of a strategy in the form in which strategies are compared, or of a user by id. */
export interface PlanScope {
  kind: 'strategy' | 'user';
  value: string;
}

const isOf = ({ kind, value }: PlanScope): SQL | undefined =>
  and(eq(exitPlans.scopeKind, kind), eq(exitPlans.scopeValue, value));

/** The scope's own plan; null when it has none. */
export async function findExitPlan(db: Queryable, scope: PlanScope): Promise<ExitPlan | null> {
  const [row] = await db.select({ plan: exitPlans.plan }).from(exitPlans).where(isOf(scope));
  return row?.plan ?? null;
}

/** Replaces the plan of a scope (null: it has none from now on) and returns the one before. */
export async function replaceExitPlan(
  tx: Tx,
  { scope, plan, now }: { scope: PlanScope; plan: ExitPlan | null; now: Date },
): Promise<ExitPlan | null> {
  const [before] = await tx.select({ plan: exitPlans.plan }).from(exitPlans).where(isOf(scope)).for('update');
  if (plan === null) {
    await tx.delete(exitPlans).where(isOf(scope));
  } else {
    const set = { plan, updatedAt: now };
    await tx
      .insert(exitPlans)
      .values({ scopeKind: scope.kind, scopeValue: scope.value, ...set })
      .onConflictDoUpdate({ target: [exitPlans.scopeKind, exitPlans.scopeValue], set });
  }
  return before?.plan ?? null;
}

/** The plan that an entry of the user for a strategy's signal follows, and whose it is; null when there is none. */
export async function findPlanFor(
  db: Queryable,
  { userId, strategy }: { userId: string; strategy: string },
): Promise<{ scope: PlanScope; plan: ExitPlan } | null> {
  const own: PlanScope = { kind: 'user', value: userId };
  const followed: PlanScope = { kind: 'strategy', value: strategy };
  for (const scope of [own, followed]) {
    const plan = await findExitPlan(db, scope);
    if (plan !== null) return { scope, plan };
  }
  return null;
}

/** The strategy of a signal, in the form in which strategies are compared. */
export async function findStrategyOf(db: Queryable, signalId: string): Promise<string> {
  const [row] = await db
    .select({ strategy: sql<string>`lower(btrim(${signals.processor}))` })
    .from(signals)
    .where(eq(signals.id, signalId));
  return row?.strategy ?? '';
}
