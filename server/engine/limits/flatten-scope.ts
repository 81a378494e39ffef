import type { RiskScope } from '#domain/limits/risk-limits.ts';
import type { Tx } from '#server/platform/db/database.ts';

/**
 * The seam of `onBreach: close`: asks for all positions of ours in the scope to be closed, in the transaction that
 * records the breach. Null while the program has no such work; limits with `onBreach: close` are then refused.
 */
export const flattenScope: ((tx: Tx, request: { scope: RiskScope; reason: string }) => Promise<void>) | null =
  null;
