import { and, eq, isNotNull } from 'drizzle-orm';
import type { FactorKind } from '#contract/factors.ts';
import type { Config } from '../config/config.ts';
import type { Queryable } from '../db/database.ts';
import { passkeys, recoveryCodes, totpFactors } from '../db/schema.ts';

/** The factors that a user has set up, in the order in which a screen offers them. */
export async function listFactors(db: Queryable, userId: string): Promise<FactorKind[]> {
  const app = db
    .select({ one: totpFactors.userId })
    .from(totpFactors)
    .where(and(eq(totpFactors.userId, userId), isNotNull(totpFactors.confirmedAt)));
  const passkey = db.select({ one: passkeys.id }).from(passkeys).where(eq(passkeys.userId, userId)).limit(1);
  const [apps, keys] = [await app, await passkey];
  return [...apps.map(() => 'totp' as const), ...keys.map(() => 'passkey' as const)];
}

/** An administrator cannot do without a second factor where real money is traded. */
export const needsFactor = (
  { exchangeMode }: Pick<Config, 'exchangeMode'>,
  user: { isAdmin: boolean },
): boolean => exchangeMode === 'live' && user.isAdmin;

export async function mustEnrolFactor(
  deps: { db: Queryable; config: Pick<Config, 'exchangeMode'> },
  user: { id: string; isAdmin: boolean },
): Promise<boolean> {
  return needsFactor(deps.config, user) && (await listFactors(deps.db, user.id)).length === 0;
}

/** Removes everything that a user could use as a second factor. Returns what there was. */
export async function removeFactors(
  db: Queryable,
  userId: string,
): Promise<{ totp: boolean; passkeys: number; recoveryCodes: number }> {
  const apps = await db
    .delete(totpFactors)
    .where(eq(totpFactors.userId, userId))
    .returning({ confirmedAt: totpFactors.confirmedAt });
  const codes = await db
    .delete(recoveryCodes)
    .where(eq(recoveryCodes.userId, userId))
    .returning({ usedAt: recoveryCodes.usedAt });
  const keys = await db.delete(passkeys).where(eq(passkeys.userId, userId)).returning({ id: passkeys.id });
  return {
    totp: apps.some(({ confirmedAt }) => confirmedAt !== null),
    passkeys: keys.length,
    recoveryCodes: codes.filter(({ usedAt }) => usedAt === null).length,
  };
}
