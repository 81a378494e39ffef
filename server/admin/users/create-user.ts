import type { CreateUserBody, User } from '#contract/users.ts';
import { eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { DEFAULT_USER_SETTINGS } from '#domain/user-settings.ts';
import type { Deps } from '#server/deps.ts';
import { aboutUser } from '#server/platform/audit/audit-subjects.ts';
import type { AuditActor } from '#server/platform/audit/audit-trail.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { isUniqueViolation } from '#server/platform/db/database-errors.ts';
import { userSettings, users } from '#server/platform/db/schema.ts';
import { AppError, invalidFields } from '#server/platform/http/errors.ts';
import { randomId } from '#server/platform/ids.ts';
import { hashPassword } from '#server/platform/password.ts';
import { passwordFault } from './password-rules.ts';
import { toUser, usernameKey } from './user-rows.ts';

/** Creates a user with the default settings; trading is off until an administrator turns it on. */
export async function createUser(
  deps: Pick<Deps, 'audit' | 'config' | 'clock'> & { db: Queryable },
  { actor, ...body }: CreateUserBody & { actor: AuditActor },
): Promise<User> {
  const { username, password, isAdmin } = body;
  const { exchangeMode, passwordCost } = deps.config;
  const fault = await passwordFault({ username, password, isAdmin, exchangeMode });
  if (fault !== null) throw invalidFields([{ path: 'password', message: fault }]);
  const passwordHash = await hashPassword(password, passwordCost);
  const now = deps.clock.now();
  try {
    const user = {
      id: randomId(),
      username,
      usernameKey: usernameKey(username),
      passwordHash,
      firstName: body.firstName ?? null,
      lastName: body.lastName ?? null,
      countryCode: body.countryCode ?? null,
      mobileNumber: body.mobileNumber ?? null,
      isAdmin,
      isActive: true,
      isTestUser: body.isTestUser ?? eligibilityMode(exchangeMode) === 'sandbox',
      createdAt: now,
      updatedAt: now,
    };
    const settings = { ...DEFAULT_USER_SETTINGS, userId: user.id, updatedAt: now };
    await deps.db.transaction(async (tx) => {
      await tx.insert(users).values(user);
      await tx.insert(userSettings).values(settings);
      const { isTestUser } = user;
      await deps.audit.record(tx, {
        actor,
        action: 'user created',
        subject: aboutUser(user),
        after: { username, isAdmin, isTestUser },
      });
    });
    return toUser(user, settings);
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError('usernameTaken', { cause: error });
    throw error;
  }
}
