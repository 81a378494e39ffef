import { createAuditTrail, programActor } from '#server/platform/audit/audit-trail.ts';
import { systemClock } from '#server/platform/clock.ts';
import type { Db } from '#server/platform/db/database.ts';
import { createSecretBox } from '#server/platform/secret-box.ts';

/** Who does what an operator asks for, where a test calls the functions below the routes. */
export const OPERATOR = programActor('ops', 'command');

const SECRET = 'a secret key of the audit trail';

/** The trail of a database without a program. */
export const auditTrailOf = (db: Db) =>
  createAuditTrail({ db, clock: systemClock, secretBox: createSecretBox(SECRET) });
