import { sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import type { deliveries } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Delivery } from './arrival.ts';

export type LogEntry = Pick<typeof deliveries.$inferSelect, 'result' | 'reason' | 'recordId'>;

export interface LogLine {
  hookId: string;
  delivery: Delivery;
  entry: LogEntry;
}

/** Adds lines to the delivery logs of webhooks, in one statement. */
export async function insertLogLines(
  db: Pick<Queryable, 'execute'>,
  lines: readonly LogLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const rows = lines.map(({ hookId, delivery: { content, sourceIp, receivedAt }, entry }) => ({
    id: timeOrderedId(),
    hook_id: hookId,
    kind: content.kind === 'refused' ? content.deliveredTo : content.kind,
    result: entry.result,
    reason: entry.reason,
    source_ip: sourceIp,
    record_id: entry.recordId,
    at: receivedAt,
  }));
  await db.execute(sql`
    insert into deliveries (id, hook_id, kind, result, reason, source_ip, record_id, received_at)
    select * from json_to_recordset(${JSON.stringify(rows)}::json) as line (
      id uuid, hook_id uuid, kind text, result text, reason text, source_ip text, record_id uuid,
      at timestamptz(3))`);
}
