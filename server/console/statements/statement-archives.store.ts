import { and, asc, desc, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm';
import type { StatementArchives } from '#contract/statements.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { statementArchives, users } from '#server/platform/db/schema.ts';

type Row = typeof statementArchives.$inferSelect;
export type OpenArchive = Pick<Row, 'id' | 'month'>;

/** Records the request; of a month that is being worked on, returns the id of that archive. */
export async function requestArchive(
  tx: Queryable,
  request: Pick<Row, 'id' | 'month' | 'requestedBy' | 'createdAt'>,
): Promise<string> {
  const [row] = await tx
    .insert(statementArchives)
    .values(request)
    .onConflictDoUpdate({
      target: statementArchives.month,
      targetWhere: sql`ended_at is null`,
      set: { month: request.month },
    })
    .returning({ id: statementArchives.id });
  return row?.id ?? request.id;
}

export const listOpenArchives = (db: Queryable): Promise<OpenArchive[]> =>
  db
    .select({ id: statementArchives.id, month: statementArchives.month })
    .from(statementArchives)
    .where(isNull(statementArchives.endedAt))
    .orderBy(asc(statementArchives.createdAt));

/** Those under way, and those that ended after this instant; newest first. */
export async function listArchives(db: Queryable, endedAfter: Date): Promise<StatementArchives['archives']> {
  const { id, month, createdAt, endedAt, users: total, done, incomplete } = statementArchives;
  const rows = await db
    .select({
      ...{ id, month, createdAt, endedAt, users: total, done, incomplete },
      createdBy: users.username,
      bytes: sql<number | null>`octet_length(${statementArchives.content})`,
    })
    .from(statementArchives)
    .leftJoin(users, eq(users.id, statementArchives.requestedBy))
    .where(or(isNull(endedAt), gt(endedAt, endedAfter)))
    .orderBy(desc(createdAt));
  return rows.map(({ endedAt: end, createdAt: at, ...row }) => ({
    ...row,
    createdAt: at.toISOString(),
    state: end === null ? 'working' : row.bytes === null ? 'failed' : 'ready',
  }));
}

export async function findArchive(
  db: Queryable,
  { id, endedAfter }: { id: string; endedAfter: Date },
): Promise<{ month: string; content: Buffer } | null> {
  const [row] = await db
    .select({ month: statementArchives.month, content: statementArchives.content })
    .from(statementArchives)
    .where(
      and(
        eq(statementArchives.id, id),
        gt(statementArchives.endedAt, endedAfter),
        isNotNull(statementArchives.content),
      ),
    );
  return row?.content ? { month: row.month, content: row.content } : null;
}

export async function changeArchive(
  db: Queryable,
  id: string,
  change: Partial<Pick<Row, 'users' | 'done' | 'incomplete' | 'endedAt' | 'content'>>,
): Promise<void> {
  await db.update(statementArchives).set(change).where(eq(statementArchives.id, id));
}

export async function deleteArchives(db: Queryable, endedBefore: Date): Promise<void> {
  await db.delete(statementArchives).where(lt(statementArchives.endedAt, endedBefore));
}

/** Everyone who had an account in that time, whether active or not. */
export const listUsersUntil = (db: Queryable, until: Date): Promise<{ id: string; username: string }[]> =>
  db
    .select({ id: users.id, username: users.username })
    .from(users)
    .where(lt(users.createdAt, until))
    .orderBy(asc(users.username));
