import type { AttentionSource, Deps } from '#server/deps.ts';
import { listOpenBreaches, listRiskLimits, scopeOf } from '#server/engine/limits/risk-limits.store.ts';
import { scopeTitle } from '#server/engine/limits/scope-title.ts';

const LIMITS: Record<string, string> = {
  maxDailyLoss: 'Daily loss',
  maxDrawdown: 'Drawdown',
  maxLossesInARow: 'Losses in a row',
};

/** Risk limits that stop new entries, and users whose entries are denied because something is not known of them. */
export const riskLimitConditions =
  ({ db, clock }: Pick<Deps, 'db' | 'clock'>): AttentionSource =>
  async () => {
    const breaches = await listOpenBreaches(db, { now: clock.now() });
    const reached = breaches.map(async ({ scopeKind: kind, scopeValue: value, ...breach }) => {
      const { limit, saw, maximum, at, until } = breach;
      const end = until === null ? 'until it is reset' : `until ${until.toISOString()}`;
      return {
        code: 'risk_limit_reached',
        severity: 'warning' as const,
        since: at.toISOString(),
        text: `${await scopeTitle(db, { kind, value })}: ${LIMITS[limit] ?? limit} is ${saw}, the limit is ${maximum}. New entries are stopped ${end}.`,
        link: kind === 'user' ? `/settings?userId=${value}` : '/strategies',
        action: 'Open limits',
      };
    });
    const unknown = (await listRiskLimits(db)).flatMap((row) =>
      Object.entries(row.watched?.unknown ?? {}).map(async ([userId, what]) => ({
        code: 'risk_limit_unknown',
        severity: 'warning' as const,
        since: null,
        text: `${await scopeTitle(db, { kind: 'user', value: userId })}: entries are denied under the limits of ${await scopeTitle(db, scopeOf(row))}, because ${what}.`,
        link: `/settings?userId=${userId}`,
        action: 'Open settings',
      })),
    );
    return await Promise.all([...reached, ...unknown]);
  };
