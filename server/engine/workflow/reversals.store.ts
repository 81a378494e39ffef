import { and, eq, inArray, or } from 'drizzle-orm';
import type { Reversal } from '#domain/orders/held-position.ts';
import { builtOnce } from '#server/platform/db/built-once.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { positionCloses } from '#server/platform/db/schema.ts';

/** The closing orders recorded in a token before a user's part of a workflow begins or resumes. */
export interface KnownCloses {
  /** The exchanges with a closing order, by any sender, whose outcome is unknown. */
  closingAt: readonly string[];
  /** How far this workflow's own close for the user has come; null: it closed nothing. */
  reversal: Reversal | null;
}

type Key = { userId: string; token: string; workflowId: string };
const UNSETTLED = ['submitting', 'sent'] as const;

const closes = builtOnce<Key>()((db, value) =>
  db
    .select({
      workflowId: positionCloses.workflowId,
      exchangePlatform: positionCloses.exchangePlatform,
      state: positionCloses.state,
      error: positionCloses.error,
    })
    .from(positionCloses)
    .where(
      and(
        eq(positionCloses.userId, value('userId')),
        eq(positionCloses.token, value('token')),
        or(inArray(positionCloses.state, [...UNSETTLED]), eq(positionCloses.workflowId, value('workflowId'))),
      ),
    ),
);

export async function readKnownCloses(
  db: Queryable,
  { userId, token, workflowId }: Key,
): Promise<KnownCloses> {
  const rows = await closes(db, { userId, token, workflowId });
  const isUnsettled = ({ state }: (typeof rows)[number]) => state === 'submitting' || state === 'sent';
  const own = rows.filter((row) => row.workflowId === workflowId && row.state !== 'refused');
  // An order that closed only a part has an error.
  const isClosed = !own.some(isUnsettled) && own.some(({ error }) => error === null);
  return {
    closingAt: rows.filter(isUnsettled).map(({ exchangePlatform }) => exchangePlatform),
    reversal: own.length === 0 ? null : isClosed ? 'closed' : 'begun',
  };
}
