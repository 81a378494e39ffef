import { type SQL, sql } from 'drizzle-orm';
import { type ExitScope, endsEntry } from '#domain/exits/select-exits.ts';
import { sideOpenedBy } from '#domain/sizing/trend.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { readExit } from '#server/ingest/read-delivery.ts';
import type { Statements } from '#server/platform/db/database.ts';
import { isOneOf } from '#server/platform/db/json-rows.ts';

/*
 * A signal that closes ends the entries of its strategy that were under way when it came: those that rest are
 * cancelled, those that were not sent are not sent any more. Ids follow the time, so newer ones are greater.
 */

interface NewerClose {
  workflowId: string;
  token: string;
  processor: string;
  receivedAt: string;
  fromAdmin: boolean;
  ownerUserId: string;
  parameters: Record<string, unknown>;
  entry: { processor: string; action: string };
}

/** The closes that came after these workflows, as one value of a statement; `readNewerCloses` reads it. */
export const newerClosesAsJson = (which: SQL): SQL => sql`(
  select json_agg(json_build_object('workflowId', begun.id, 'token', close.token, 'processor', close.processor,
    'receivedAt', close.received_at, 'fromAdmin', close.from_admin, 'ownerUserId', close.owner_user_id,
    'parameters', close.parameters,
    'entry', json_build_object('processor', entry.processor, 'action', entry.action)))
  from workflows as begun
  join signals as entry on entry.id = begun.signal_id
  join signals as close on close.token = entry.token and close.id > begun.id and close.action = 'close'
  where ${which})`;

export const readNewerCloses = (json: unknown): NewerClose[] => (json ?? []) as NewerClose[];

export async function listNewerCloses(
  db: Pick<Statements, 'execute'>,
  workflowIds: readonly string[],
): Promise<NewerClose[]> {
  const { rows } = await db.execute<{ closes: unknown }>(
    sql`select ${newerClosesAsJson(isOneOf(sql`begun.id`, workflowIds))} as closes`,
  );
  return readNewerCloses(rows[0]?.closes);
}

/** Why a user's entry of a workflow is not opened any more; null when no newer signal closes it. */
export function denyClosedSince(
  closes: readonly NewerClose[],
  { workflowId, userId, scope }: { workflowId: string | null; userId: string; scope: ExitScope },
): Denial | null {
  const ending = closes.find(({ entry, ...close }) => {
    const { token, processor, parameters, ownerUserId, fromAdmin } = close;
    const exit = readExit({ action: 'close', parameters });
    if (close.workflowId !== workflowId || exit === null) return false;
    const receivedAt = new Date(close.receivedAt);
    const audience = fromAdmin ? ('everyone' as const) : ('owner' as const);
    const side = sideOpenedBy(entry.action === 'buy' ? 'buy' : 'sell');
    return endsEntry(
      { signal: { token, processor, receivedAt, ownerUserId, audience, exit }, scope },
      { userId, side, processor: entry.processor },
    );
  });
  return ending === undefined
    ? null
    : deny('closed_since', { token: ending.token, processor: ending.processor });
}
