import { and, eq, gt, lt } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { passkeyChallenges } from '#server/platform/db/schema.ts';

export const CHALLENGE_MS = 5 * 60_000;

export type ChallengePurpose = typeof passkeyChallenges.$inferSelect.purpose;

export async function storeChallenge(
  db: Queryable,
  options: { challenge: string; purpose: ChallengePurpose; userId: string | null; now: Date },
): Promise<void> {
  const { now, ...challenge } = options;
  await db.delete(passkeyChallenges).where(lt(passkeyChallenges.expiresAt, now));
  const expiresAt = new Date(now.getTime() + CHALLENGE_MS);
  await db.insert(passkeyChallenges).values({ ...challenge, expiresAt });
}

/** Uses a challenge up, whatever comes of its answer. Null when it is unknown, used or too old. */
export async function takeChallenge(
  db: Queryable,
  options: { challenge: string; purpose: ChallengePurpose; now: Date },
): Promise<{ userId: string | null } | null> {
  const [taken] = await db
    .delete(passkeyChallenges)
    .where(
      and(
        eq(passkeyChallenges.challenge, options.challenge),
        eq(passkeyChallenges.purpose, options.purpose),
        gt(passkeyChallenges.expiresAt, options.now),
      ),
    )
    .returning({ userId: passkeyChallenges.userId });
  return taken ?? null;
}
