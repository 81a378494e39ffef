import { type HaltRow, listUnclearedHalts } from '#server/admin/halts/trading-halts.store.ts';
import { type AccountKey, listAccounts } from '#server/engine/protection/positions.store.ts';
import type { Db } from '#server/platform/db/database.ts';

/** An account with open business of ours, and the halts that wait for what its exchange shows. */
export interface AuditedAccount extends AccountKey {
  halts: HaltRow[];
}

/** Accounts in which a position of ours may be open, whoever's, by their exchange. */
export async function listAuditedAccounts(db: Db): Promise<Map<string, AuditedAccount[]>> {
  const halts = await listUnclearedHalts(db);
  const nameOf = ({ userId, exchangePlatform }: AccountKey) => `${userId} ${exchangePlatform}`;
  const haltsOf = Map.groupBy(halts, nameOf);
  const accounts = new Map<string, AuditedAccount>();
  for (const { userId, exchangePlatform } of [
    ...(await listAccounts(db, { onlyWithTrades: true })),
    ...halts,
  ]) {
    const key = { userId, exchangePlatform };
    accounts.set(nameOf(key), { ...key, halts: haltsOf.get(nameOf(key)) ?? [] });
  }
  return Map.groupBy(accounts.values(), ({ exchangePlatform }) => exchangePlatform);
}
