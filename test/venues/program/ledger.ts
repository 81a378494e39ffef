import { desc } from 'drizzle-orm';
import {
  paperAccounts,
  paperFills,
  paperOrders,
  paperPositions,
  paperTriggerOrders,
} from '#server/exchanges/paper/paper-schema.ts';
import type { Db } from '#server/platform/db/database.ts';

const NEWEST = 1_000;

/** Everything in the books, of lists that grow the newest rows. */
export async function readLedger(db: Db): Promise<unknown> {
  const [accounts, positions, stops, orders, fills] = await Promise.all([
    db.select().from(paperAccounts),
    db.select().from(paperPositions),
    db.select().from(paperTriggerOrders).orderBy(desc(paperTriggerOrders.id)).limit(NEWEST),
    db.select().from(paperOrders).orderBy(desc(paperOrders.id)).limit(NEWEST),
    db.select().from(paperFills).orderBy(desc(paperFills.id)).limit(NEWEST),
  ]);
  return withoutBigints({ accounts, positions, stops, orders, fills });
}

const withoutBigints = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, field: unknown) => (typeof field === 'bigint' ? String(field) : field)),
  );
