import { and, asc, eq, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import { NO_LIMITS, type RiskLimits, type RiskScope, STOPPING_LIMITS } from '#domain/limits/risk-limits.ts';
import type { Queryable, Tx } from '#server/platform/db/database.ts';
import { riskBreaches, riskLimits } from '#server/platform/db/schema.ts';

export type RiskLimitsRow = typeof riskLimits.$inferSelect;
export type BreachRow = typeof riskBreaches.$inferSelect;

export const scopeOf = ({
  scopeKind,
  scopeValue,
}: Pick<RiskLimitsRow, 'scopeKind' | 'scopeValue'>): RiskScope => ({
  kind: scopeKind,
  value: scopeValue,
});

const isLimitsOf = ({ kind, value }: RiskScope): SQL | undefined =>
  and(eq(riskLimits.scopeKind, kind), eq(riskLimits.scopeValue, value));
const isBreachOf = ({ kind, value }: RiskScope): SQL | undefined =>
  and(eq(riskBreaches.scopeKind, kind), eq(riskBreaches.scopeValue, value));

export const listRiskLimits = (db: Queryable): Promise<RiskLimitsRow[]> =>
  db.select().from(riskLimits).orderBy(asc(riskLimits.scopeKind), asc(riskLimits.scopeValue));

export async function findRiskLimits(db: Queryable, scope: RiskScope): Promise<RiskLimitsRow | null> {
  const [row] = await db.select().from(riskLimits).where(isLimitsOf(scope));
  return row ?? null;
}

/** Breaches that last, oldest first; of all scopes or of one. */
export const listOpenBreaches = (
  db: Queryable,
  { now, scope }: { now: Date; scope?: RiskScope },
): Promise<BreachRow[]> =>
  db
    .select()
    .from(riskBreaches)
    .where(
      and(
        isNull(riskBreaches.endedAt),
        sql`(${riskBreaches.until} is null or ${riskBreaches.until} > ${now})`,
        scope && isBreachOf(scope),
      ),
    )
    .orderBy(asc(riskBreaches.at), asc(riskBreaches.id));

/**
 * Replaces the limits of a scope, and returns those before. An entry waits for the row, so it is either written before
 * or checked against the new limits. A limit that is taken away ends what it stopped.
 */
export async function replaceRiskLimits(
  tx: Tx,
  change: { scope: RiskScope; by: string; now: Date; changeOf: (before: RiskLimits) => RiskLimits },
): Promise<{ before: RiskLimits; after: RiskLimits }> {
  const { scope, by, now, changeOf } = change;
  // Without a row there is nothing to lock: of two first writers one waits for the other's row.
  const fresh = { scopeKind: scope.kind, scopeValue: scope.value, limits: NO_LIMITS };
  await tx
    .insert(riskLimits)
    .values({ ...fresh, drawdownSince: now, lossesSince: now, updatedAt: now })
    .onConflictDoNothing();
  const [row] = await tx.select().from(riskLimits).where(isLimitsOf(scope)).for('update');
  const before = { ...NO_LIMITS, ...row?.limits };
  const after = changeOf(before);
  const isNewDrawdown = before.maxDrawdown === null && after.maxDrawdown !== null;
  const isNewLosses = before.maxLossesInARow === null && after.maxLossesInARow !== null;
  await tx
    .update(riskLimits)
    .set({
      limits: after,
      updatedAt: now,
      // It counts from the moment it is set, and is not known before it is compared.
      watched: null,
      watchedAt: null,
      ...(isNewDrawdown ? { drawdownSince: now, peak: null } : {}),
      ...(isNewLosses ? { lossesSince: now } : {}),
    })
    .where(isLimitsOf(scope));
  const gone = STOPPING_LIMITS.filter((name) => after[name] === null);
  if (gone.length > 0) {
    await tx
      .update(riskBreaches)
      .set({ endedAt: now, endedBy: by })
      .where(and(isBreachOf(scope), isNull(riskBreaches.endedAt), inArray(riskBreaches.limit, gone)));
  }
  return { before, after };
}

/** Ends what the limits of a scope stop, and lets them count from now; returns the breaches that ended. */
export async function resetRiskLimits(
  tx: Tx,
  { scope, by, now }: { scope: RiskScope; by: string; now: Date },
): Promise<BreachRow[]> {
  const [row] = await tx.select().from(riskLimits).where(isLimitsOf(scope)).for('update');
  if (row === undefined) return [];
  await tx
    .update(riskLimits)
    .set({
      drawdownSince: now,
      lossesSince: now,
      peak: null,
      dayReset: { at: now.toISOString(), profit: row.watched?.dayProfit ?? '0' },
      watched: null,
      watchedAt: null,
    })
    .where(isLimitsOf(scope));
  return await tx
    .update(riskBreaches)
    .set({ endedAt: now, endedBy: by })
    .where(and(isBreachOf(scope), isNull(riskBreaches.endedAt)))
    .returning();
}
