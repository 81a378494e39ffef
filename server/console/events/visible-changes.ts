import type { Change, ChangeTopic } from '#contract/events.ts';

/** What ordinary users' screens show; all of it is their own. */
const OF_ONES_OWN: ReadonlySet<ChangeTopic> = new Set(['deliveries', 'hooks', 'users', 'trading-halts']);

/**
 * What a signed-in user is told of a change: administrators all, others what concerns themselves, and only that it
 * happened. A change that names nobody (too many at once) may be one's own.
 */
export function visibleChange(change: Change, viewer: { id: string; isAdmin: boolean }): Change | null {
  const isOwn = change.userId === undefined || change.userId === viewer.id;
  if (change.topic === 'sessions') return null;
  if (change.topic === 'deliveries') return isOwn ? change : null;
  if (viewer.isAdmin) return change;
  // The own positions; which signal or workflow opened them is for administrators.
  if (change.topic === 'trades') return change.userId === viewer.id ? { topic: 'trades' } : null;
  return OF_ONES_OWN.has(change.topic) && isOwn ? change : null;
}
