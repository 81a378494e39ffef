import type { AttentionCondition } from '#contract/attention.ts';
import { listFailedPositions } from '#server/console/positions/flatten.store.ts';
import type { Deps } from '#server/deps.ts';

/** Positions that a closing of all positions could not close. */
export async function failedClosingConditions({ db }: Pick<Deps, 'db'>): Promise<AttentionCondition[]> {
  return (await listFailedPositions(db)).map(({ position, username }) => ({
    code: 'position_not_closed',
    severity: 'critical',
    since: position.firstFailedAt?.toISOString() ?? null,
    text: `The ${position.token} position of ${username} could not be closed, and is tried every minute: ${position.reason ?? 'no reason given'}`,
    link: '/positions',
    action: 'Look at the positions',
  }));
}
