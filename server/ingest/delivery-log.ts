import { sql } from 'drizzle-orm';
import type { Queryable } from '#server/platform/db/database.ts';
import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import type { deliveries } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/log.ts';
import type { Delivery } from './arrival.ts';

export type LogEntry = Pick<typeof deliveries.$inferSelect, 'result' | 'reason' | 'recordId'>;

/** Limits the reason in the log; the sender gets all of it. */
export const LONGEST_REASON = 500;

interface LogLine {
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

const MINUTE_MS = 60_000;
/** Enough to see that alerts still come, without filling the log. */
const LINES_A_MINUTE = 10;
const WRITTEN_AFTER_MS = 1_000;

const ENTRY = { result: 'refused', reason: 'The webhook is suspended', recordId: null } as const;

/** Shows owners what their suspended webhooks refuse. Writes later: suspended and unknown keys take equally long. */
interface SuspendedLog {
  note(hookId: string, delivery: Delivery): void;
  /** Resolves when every noted refusal has been written. */
  idle(): Promise<void>;
}

export function createSuspendedLog(options: {
  db: Queryable;
  log: Logger;
  /** Called after the commit with the webhooks that got lines. */
  onWritten: (hookIds: Set<string>) => void;
}): SuspendedLog {
  const { db, log, onWritten } = options;
  const minutes = new Map<string, { sinceMs: number; lines: number }>();
  let waiting: LogLine[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing = Promise.resolve();

  function hasRoom(hookId: string, nowMs: number): boolean {
    const minute = minutes.get(hookId);
    if (minute === undefined || Math.abs(nowMs - minute.sinceMs) >= MINUTE_MS) {
      minutes.set(hookId, { sinceMs: nowMs, lines: 1 });
      return true;
    }
    minute.lines += 1;
    return minute.lines <= LINES_A_MINUTE;
  }

  async function writeWaiting(): Promise<void> {
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    try {
      await insertLogLines(db, lines);
      onWritten(new Set(lines.map(({ hookId }) => hookId)));
    } catch (error) {
      log.warn(
        { err: error, code: databaseErrorCode(error) },
        'refused deliveries could not be written down',
      );
    }
  }

  function write(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    writing = writing.then(writeWaiting);
    return writing;
  }

  return {
    note(hookId, delivery) {
      if (!hasRoom(hookId, delivery.receivedAt.getTime())) return;
      waiting.push({ hookId, delivery, entry: ENTRY });
      timer ??= setTimeout(write, WRITTEN_AFTER_MS);
    },
    idle: write,
  };
}
