import { eq } from 'drizzle-orm';
import type { Action } from '#domain/sizing/trend.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { signals } from '#server/platform/db/schema.ts';

export type SignalRow = typeof signals.$inferSelect;

/** A signal that opens a position. */
export type EntrySignalRow = SignalRow & { action: Action };

export const isEntry = (signal: SignalRow): signal is EntrySignalRow =>
  signal.action === 'buy' || signal.action === 'sell';

export async function findSignal(db: Queryable, id: string): Promise<SignalRow | null> {
  const [row] = await db.select().from(signals).where(eq(signals.id, id));
  return row ?? null;
}
