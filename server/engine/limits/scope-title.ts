import { eq } from 'drizzle-orm';
import type { RiskScope } from '#domain/limits/risk-limits.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { users } from '#server/platform/db/schema.ts';

/** The name of a scope for people: of a user the username. */
export async function scopeTitle(db: Queryable, { kind, value }: RiskScope): Promise<string> {
  if (kind === 'program') return 'Program';
  if (kind === 'strategy') return `Strategy ${value}`;
  const [user] = await db.select({ username: users.username }).from(users).where(eq(users.id, value));
  return user?.username ?? value;
}
