import type { RiskScope } from '#domain/limits/risk-limits.ts';
import type { Tx } from '#server/platform/db/database.ts';

/**
 * `onBreach: close`: asks for all positions of ours in the scope to be closed, in the transaction that records the
 * breach. `noEntries` comes before all other locks of that transaction: entries take it before they lock limits.
 */
export interface ScopeFlattener {
  noEntries(tx: Tx): Promise<void>;
  flatten(tx: Tx, request: { scope: RiskScope; reason: string }): Promise<void>;
}
