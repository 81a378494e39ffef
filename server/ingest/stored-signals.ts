import { eq } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { signals } from '#server/platform/db/schema.ts';

export type SignalRow = typeof signals.$inferSelect;

export async function findSignal(db: Queryable, id: string): Promise<SignalRow | null> {
  const [row] = await db.select().from(signals).where(eq(signals.id, id));
  return row ?? null;
}
