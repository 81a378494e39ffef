import type { RiskScope } from '#domain/limits/risk-limits.ts';
import type { StopScope } from '#domain/orders/trading-stop.ts';
import { ENGINE } from '#server/admin/halts/trading-halts.store.ts';
import { nameOf, writeStop } from '#server/admin/stops/stop-entries.ts';
import { takeEntriesAlone } from '#server/admin/stops/trading-stops.store.ts';
import type { Deps } from '#server/deps.ts';
import type { ScopeFlattener } from '#server/engine/limits/flatten-scope.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { insertFlatten, LONGEST_CLOSING_MS } from './flatten.store.ts';

/**
 * Records the closing of all positions in the scope of a risk limit. Resting entries are cancelled by a stop that ends
 * with the closing; the limit itself keeps stopping new ones. The transaction commits all of it or nothing.
 */
export function createScopeFlattener(
  deps: Pick<Deps, 'audit' | 'clock' | 'config' | 'jobs'>,
): ScopeFlattener {
  const { audit, clock, config } = deps;
  return {
    noEntries: takeEntriesAlone,
    async flatten(tx, { scope: limited, reason }) {
      const now = clock.now();
      const scope = stopScopeOf(limited);
      const until = new Date(now.getTime() + LONGEST_CLOSING_MS);
      const stop = await writeStop(deps, tx, { scope, reason, until, by: ENGINE, userId: null });
      const id = timeOrderedId();
      await audit.record(tx, {
        actor: ENGINE,
        action: 'closing of all positions requested',
        subject: { kind: 'position', id: null, name: await nameOf(tx, scope) },
        after: { id, scope: { ...scope }, reason },
      });
      const flatten = {
        id,
        scopeKind: scope.kind,
        scopeValue: scope.value,
        requestedBy: null,
        actor: ENGINE,
        createdAt: now,
        endsStopId: stop.id,
        endedAt: null,
      };
      await insertFlatten(tx, flatten, config.exchangeMode);
    },
  };
}

function stopScopeOf({ kind, value }: RiskScope): StopScope {
  return kind === 'program' ? { kind: 'all', value: null } : { kind, value };
}
