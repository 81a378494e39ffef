import { sql } from 'drizzle-orm';
import { NO_LIMITS, type RiskLimits, type RiskScope } from '#domain/limits/risk-limits.ts';
import { createScopeFlattener } from '#server/console/positions/flatten-scope.ts';
import { replaceRiskLimits } from '#server/engine/limits/risk-limits.store.ts';
import { createLimitWatch } from '#server/engine/limits/watch-limits.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { createEquitySnapshots } from '#server/engine/protection/equity-snapshots.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import type { TestEngine } from './test-engine.ts';

export const PROGRAM: RiskScope = { kind: 'program', value: '' };
export const TESLA: RiskScope = { kind: 'strategy', value: 'tesla' };
export const ofUser = (userId: string): RiskScope => ({ kind: 'user', value: userId });

/** Sets the limits of a scope; the others are none. */
export async function setLimits(
  { db, clock }: Pick<TestEngine, 'db' | 'clock'>,
  scope: RiskScope,
  limits: Partial<RiskLimits>,
): Promise<void> {
  await db.transaction((tx) =>
    replaceRiskLimits(tx, {
      scope,
      by: '00000000-0000-0000-0000-000000000000',
      now: clock.now(),
      changeOf: () => ({ ...NO_LIMITS, ...limits }),
    }),
  );
}

/** Removes all limits, and lets no position of earlier tests count. */
export async function forgetLimits({ db, clock }: Pick<TestEngine, 'db' | 'clock'>): Promise<void> {
  await db.execute(sql`delete from risk_breaches`);
  await db.execute(sql`delete from risk_limits`);
  await db.execute(
    sql`update trades set position_closed_at = ${clock.now()}, created_at = created_at - interval '2 minutes'
      where position_closed_at is null or created_at > ${clock.now()}::timestamptz - interval '2 minutes'`,
  );
}

/** What happens in the background in half a minute: accounts are read, equity is recorded, limits are compared. */
export async function watchAll({ deps, db }: Pick<TestEngine, 'deps' | 'db'>): Promise<void> {
  const audit = createProtectionAudit(deps);
  await withLease({ db, key: 'protection:audit', holder: 'test' }, (lease) => audit.run(lease));
  await createEquitySnapshots(deps).run();
  await createLimitWatch({ ...deps, flattener: createScopeFlattener(deps) }).run();
}
