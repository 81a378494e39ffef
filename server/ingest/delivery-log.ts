import { hash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#server/platform/clock.ts';
import type { Queryable } from '#server/platform/db/database.ts';
import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import type { deliveries } from '#server/platform/db/schema.ts';
import { firstIdOf, timeOrderedId } from '#server/platform/ids.ts';
import type { Logger } from '#server/platform/log.ts';
import type { Delivery } from './arrival.ts';

type DeliveryRow = typeof deliveries.$inferSelect;
export type LogEntry = Pick<DeliveryRow, 'result' | 'reason' | 'recordId'> &
  Partial<Pick<DeliveryRow, 'refusedBody' | 'faultLine' | 'faultColumn'>>;

/** Limits the reason in the log; the sender gets all of it. */
export const LONGEST_REASON = 500;

interface LogLine {
  hookId: string;
  delivery: Delivery;
  entry: LogEntry;
}

const kindOf = ({ content }: Delivery) => (content.kind === 'refused' ? content.deliveredTo : content.kind);

/** Adds lines to the delivery logs of webhooks, in one statement. */
export async function insertLogLines(
  db: Pick<Queryable, 'execute'>,
  lines: readonly LogLine[],
): Promise<void> {
  if (lines.length === 0) return;
  const rows = lines.map(({ hookId, delivery, entry }) => ({
    id: timeOrderedId(),
    hook_id: hookId,
    kind: kindOf(delivery),
    result: entry.result,
    reason: entry.reason,
    source_ip: delivery.sourceIp,
    record_id: entry.recordId,
    at: delivery.receivedAt,
    refused_body: entry.refusedBody,
    fault_line: entry.faultLine,
    fault_column: entry.faultColumn,
  }));
  await db.execute(sql`
    insert into deliveries (id, hook_id, kind, result, reason, source_ip, record_id, received_at, refused_body,
      fault_line, fault_column)
    select * from json_to_recordset(${JSON.stringify(rows)}::json) as line (
      id uuid, hook_id uuid, kind text, result text, reason text, source_ip text, record_id uuid,
      at timestamptz(3), refused_body text, fault_line integer, fault_column integer)`);
}

const MINUTE_MS = 60_000;
/** Enough to see that alerts still come, without filling the log. */
const LINES_A_MINUTE = 10;
const WRITTEN_AFTER_MS = 1_000;
/** Webhooks whose minute is remembered; a forgotten one only begins its ten lines anew. */
const MAX_HOOKS = 10_000;

const ENTRY = { result: 'refused', reason: 'The webhook is suspended', recordId: null } as const;

type CountedResult = 'refused' | 'limited';

/**
 * Bounds what refused and limited deliveries write: ten lines a minute and webhook on each instance, and one row that
 * counts the rest on all of them. What it writes itself comes later, so that no answer waits for it.
 */
export interface RefusalLog {
  /** Whether the delivery gets a line of its own; otherwise it is counted. A repeated call gives the same answer. */
  takesLine(hookId: string, delivery: Delivery, result: CountedResult): boolean;
  /** Shows owners what their suspended webhooks refuse: suspended and unknown keys take equally long. */
  noteSuspended(hookId: string, delivery: Delivery): void;
  /** Resolves when every noted refusal has been written. */
  idle(): Promise<void>;
}

interface Count {
  hookId: string;
  delivery: Delivery;
  refused: number;
  limited: number;
}

export function createRefusalLog(options: {
  db: Queryable;
  clock: Clock;
  log: Logger;
  /** Called after the commit with the webhooks that got lines. */
  onWritten: (hookIds: Set<string>) => void;
}): RefusalLog {
  const { db, clock, log, onWritten } = options;
  const minutes = new LRUCache<string, { minute: number; lines: number }>({ max: MAX_HOOKS });
  // Keeps the answer: a failed commit may be retried row by row.
  const judged = new WeakMap<Delivery, boolean>();
  let waiting: LogLine[] = [];
  let counts = new Map<string, Count>();
  let cancel: (() => void) | null = null;
  let writing = Promise.resolve();

  function hasRoom(hookId: string, { receivedAt }: Delivery): boolean {
    const minute = minuteOf(receivedAt);
    const known = minutes.get(hookId);
    if (known === undefined || known.minute !== minute) {
      minutes.set(hookId, { minute, lines: 1 });
      return true;
    }
    known.lines += 1;
    return known.lines <= LINES_A_MINUTE;
  }

  function takesLine(hookId: string, delivery: Delivery, result: CountedResult): boolean {
    const known = judged.get(delivery);
    if (known !== undefined) return known;
    const takes = hasRoom(hookId, delivery);
    judged.set(delivery, takes);
    if (!takes) {
      const id = countId(hookId, delivery.receivedAt);
      const count = counts.get(id) ?? { hookId, delivery, refused: 0, limited: 0 };
      count[result] += 1;
      counts.set(id, count);
      cancel ??= clock.after(WRITTEN_AFTER_MS, write);
    }
    return takes;
  }

  async function writeWaiting(): Promise<void> {
    const [lines, counted] = [waiting, counts];
    waiting = [];
    counts = new Map();
    if (lines.length === 0 && counted.size === 0) return;
    try {
      await insertLogLines(db, lines);
      await addCounts(db, counted);
      onWritten(new Set([...lines, ...counted.values()].map(({ hookId }) => hookId)));
    } catch (error) {
      log.warn(
        { err: error, code: databaseErrorCode(error) },
        'refused deliveries could not be written down',
      );
    }
  }

  function write(): Promise<void> {
    cancel?.();
    cancel = null;
    writing = writing.then(writeWaiting);
    return writing;
  }

  return {
    takesLine,
    noteSuspended(hookId, delivery) {
      if (!takesLine(hookId, delivery, 'refused')) return;
      waiting.push({ hookId, delivery, entry: ENTRY });
      cancel ??= clock.after(WRITTEN_AFTER_MS, write);
    },
    idle: write,
  };
}

const minuteOf = (moment: Date): number => Math.floor(moment.getTime() / MINUTE_MS);

/** The same on every instance, so that all of them add to one row. It begins its minute, and so ends it in lists. */
function countId(hookId: string, receivedAt: Date): string {
  const digest = hash('sha256', hookId, 'hex');
  const start = firstIdOf(new Date(minuteOf(receivedAt) * MINUTE_MS));
  return `${start.slice(0, 14)}7${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
}

/** Adds to the rows that count a minute. In the order of their ids: instances must not wait for each other in a circle. */
async function addCounts(db: Pick<Queryable, 'execute'>, counts: ReadonlyMap<string, Count>): Promise<void> {
  if (counts.size === 0) return;
  const rows = [...counts].map(([id, { hookId, delivery, refused, limited }]) => ({
    id,
    hook_id: hookId,
    kind: kindOf(delivery),
    result: refused > 0 ? 'refused' : 'limited',
    source_ip: delivery.sourceIp,
    at: new Date(minuteOf(delivery.receivedAt) * MINUTE_MS),
    refused,
    limited,
  }));
  await db.execute(sql`
    insert into deliveries (id, hook_id, kind, result, source_ip, received_at, more_refused, more_limited)
    select * from json_to_recordset(${JSON.stringify(rows)}::json) as line (
      id uuid, hook_id uuid, kind text, result text, source_ip text, at timestamptz(3), refused integer,
      limited integer) order by id
    on conflict (id) do update set more_refused = deliveries.more_refused + excluded.more_refused,
      more_limited = deliveries.more_limited + excluded.more_limited,
      result = case when excluded.result = 'refused' then 'refused' else deliveries.result end`);
}
