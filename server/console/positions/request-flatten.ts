import type { StopScope } from '#domain/orders/trading-stop.ts';
import { nameOf, stopEntries } from '#server/admin/stops/stop-entries.ts';
import type { Deps } from '#server/deps.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { insertFlatten, LONGEST_CLOSING_MS } from './flatten.store.ts';

const REASON = 'Closing all positions';

/**
 * Stops new entries in the scope, then records that all its positions are to be closed; returns the closing's id.
 * `staysStopped`: the stop outlasts the closing. `id`: of the closing, when there may be only one of that request.
 */
export async function requestFlatten(
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'db' | 'jobs' | 'log'>,
  {
    scope,
    staysStopped,
    by,
    userId,
    id = timeOrderedId(),
  }: { scope: StopScope; staysStopped: boolean; by: AuditActor; userId: string; id?: string },
): Promise<string> {
  const { audit, clock, config, db, log } = deps;
  const until = staysStopped ? null : new Date(clock.now().getTime() + LONGEST_CLOSING_MS);
  const stop = await stopEntries(deps, { scope, reason: REASON, until, by, userId });
  const total = await db.transaction(async (tx) => {
    await audit.record(tx, {
      actor: by,
      action: 'closing of all positions requested',
      subject: { kind: 'position', id: null, name: await nameOf(tx, scope) },
      after: { id, scope: { ...scope }, stop: staysStopped },
    });
    const flatten = {
      id,
      scopeKind: scope.kind,
      scopeValue: scope.value,
      requestedBy: userId,
      actor: by,
      createdAt: clock.now(),
      endsStopId: staysStopped ? null : stop.id,
      endedAt: null,
    };
    return await insertFlatten(tx, flatten, config.exchangeMode);
  });
  log.warn({ id, ...scope, total, by: userId }, 'all positions are being closed');
  return id;
}
