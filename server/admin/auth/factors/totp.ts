import { and, eq, isNull, lt, or } from 'drizzle-orm';
import { Secret, TOTP } from 'otpauth';
import qrcode from 'qrcode-generator';
import type { Deps } from '#server/deps.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { totpFactors } from '#server/platform/db/schema.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import type { SealOptions } from '#server/platform/secret-box.ts';

const ISSUER = 'Signal Board';
const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** How many steps the clock of a phone may be off. */
const STEPS_OFF = 1;
const QR_SIZE = { cellSize: 4, margin: 16, scalable: true };

export const totpPlace = (userId: string): SealOptions => ({ purpose: 'totp', binding: userId });

type TotpDeps = Pick<Deps, 'secretBox'>;

type TotpRow = typeof totpFactors.$inferSelect;

/** The user's app, even one that is still being set up. */
export async function findTotp(db: Queryable, userId: string): Promise<TotpRow | null> {
  const [row] = await db.select().from(totpFactors).where(eq(totpFactors.userId, userId));
  return row ?? null;
}

export async function removeTotp(db: Queryable, userId: string): Promise<TotpRow | null> {
  const [row] = await db.delete(totpFactors).where(eq(totpFactors.userId, userId)).returning();
  return row ?? null;
}

/** A new secret for an app that is not confirmed yet; replaces an earlier draft. */
export async function startTotp(
  deps: TotpDeps & { db: Queryable },
  { user, now }: { user: { id: string; username: string }; now: Date },
): Promise<{ secret: string; otpauthUrl: string; qrSvg: string }> {
  const app = new TOTP({
    issuer: ISSUER,
    label: user.username,
    secret: new Secret({ size: SECRET_BYTES }),
    period: PERIOD_SECONDS,
  });
  const secret = app.secret.base32;
  const draft = {
    secretSealed: deps.secretBox.seal(secret, totpPlace(user.id)),
    createdAt: now,
    lastStep: null,
  };
  const stored = await deps.db
    .insert(totpFactors)
    .values({ ...draft, userId: user.id })
    .onConflictDoUpdate({
      target: totpFactors.userId,
      set: draft,
      setWhere: isNull(totpFactors.confirmedAt),
    })
    .returning({ userId: totpFactors.userId });
  if (stored.length === 0) throw new AppError('factorExists');
  const otpauthUrl = app.toString();
  return { secret, otpauthUrl, qrSvg: drawQr(otpauthUrl) };
}

function drawQr(text: string): string {
  const qr = qrcode(0, 'M');
  qr.addData(text);
  qr.make();
  return qr.createSvgTag(QR_SIZE);
}

/** Takes the app into use with its first code; false when the code is wrong. */
export async function confirmTotp(
  deps: TotpDeps & { db: Queryable },
  { userId, code, now }: { userId: string; code: string; now: Date },
): Promise<boolean> {
  const draft = required(await findTotp(deps.db, userId), 'factorNotStarted');
  if (draft.confirmedAt !== null) throw new AppError('factorExists');
  const step = stepOf(deps, { ...draft, code, now });
  if (step === null) return false;
  const confirmed = await deps.db
    .update(totpFactors)
    .set({ confirmedAt: now, lastStep: step })
    .where(
      and(
        eq(totpFactors.userId, userId),
        // Another request may have replaced the draft.
        eq(totpFactors.secretSealed, draft.secretSealed),
        isNull(totpFactors.confirmedAt),
      ),
    )
    .returning({ userId: totpFactors.userId });
  if (confirmed.length === 0) throw new AppError('factorNotStarted');
  return true;
}

/** Accepts a code of a confirmed app; false when it is wrong, or not newer than the last accepted one. */
export async function acceptTotpCode(
  deps: TotpDeps & { db: Queryable },
  { userId, code, now }: { userId: string; code: string; now: Date },
): Promise<boolean> {
  const factor = await findTotp(deps.db, userId);
  if (factor === null || factor.confirmedAt === null) return false;
  const step = stepOf(deps, { ...factor, code, now });
  if (step === null) return false;
  // One statement compares and stores, so that of two requests with one code the second is refused.
  const accepted = await deps.db
    .update(totpFactors)
    .set({ lastStep: step })
    .where(
      and(
        eq(totpFactors.userId, userId),
        eq(totpFactors.secretSealed, factor.secretSealed),
        or(isNull(totpFactors.lastStep), lt(totpFactors.lastStep, step)),
      ),
    )
    .returning({ userId: totpFactors.userId });
  return accepted.length > 0;
}

/** The time step to which a code belongs. */
function stepOf(
  deps: TotpDeps,
  { userId, secretSealed, code, now }: { userId: string; secretSealed: string; code: string; now: Date },
): number | null {
  const secret = Secret.fromBase32(deps.secretBox.open(secretSealed, totpPlace(userId)));
  const timestamp = now.getTime();
  const delta = TOTP.validate({ token: code, secret, timestamp, period: PERIOD_SECONDS, window: STEPS_OFF });
  return delta === null ? null : TOTP.counter({ timestamp, period: PERIOD_SECONDS }) + delta;
}
