import { and, eq, inArray, or } from 'drizzle-orm';
import type { Reversal } from '#domain/orders/held-position.ts';
import { builtOnce } from '#server/platform/db/built-once.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { positionCloses } from '#server/platform/db/schema.ts';

/** What is recorded of closing orders in a token before a user's part of a workflow is begun, or gone on with. */
export interface KnownCloses {
  /** The exchanges at which there is one, whoever sent it, of which it is not known what came of it. */
  closingAt: readonly string[];
  /** What this workflow has closed for the user; null: nothing. */
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
  // Of an order that closed a part alone, the error tells.
  const isClosed = !own.some(isUnsettled) && own.some(({ error }) => error === null);
  return {
    closingAt: rows.filter(isUnsettled).map(({ exchangePlatform }) => exchangePlatform),
    reversal: own.length === 0 ? null : isClosed ? 'closed' : 'begun',
  };
}
