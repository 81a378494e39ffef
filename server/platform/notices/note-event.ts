import type { SQL } from 'drizzle-orm';
import type { Queryable } from '../db/database.ts';
import { insertRows } from '../db/json-rows.ts';
import { type EventCode, noticeEvents } from '../db/schema.ts';

/** Something that became true and may be worth telling: what happened and the ids of what it happened to. */
export interface NoticeEvent {
  code: EventCode;
  /** The user whom it concerns; null or left out for the installation. */
  userId?: string | null;
  workflowId?: string | null;
  tradeId?: string | null;
  /** Values of the text, short ones. */
  data?: Record<string, string | number | null>;
  at: Date;
}

/**
 * Events are rows without keys, references and checks: writing one fails only where the database fails. Texts and
 * messages are made of them later (server/alerts), so money never waits for a message.
 */
export function insertEvents(events: readonly NoticeEvent[]): SQL {
  return insertRows(noticeEvents, events.map(storable));
}

/** Writes events in the transaction that makes them true. */
export async function noteEvents(
  db: Pick<Queryable, 'execute'>,
  events: readonly NoticeEvent[],
): Promise<void> {
  if (events.length > 0) await db.execute(insertEvents(events));
}

const LONGEST_VALUE = 400;

/** PostgreSQL takes no NUL and no lone surrogate, and an exchange's message may have any length. */
function storable({ data, ...event }: NoticeEvent): NoticeEvent {
  if (data === undefined) return event;
  const values = Object.entries(data).map(([name, value]) => [
    name,
    typeof value === 'string'
      ? value.toWellFormed().replaceAll('\0', '').slice(0, LONGEST_VALUE).toWellFormed()
      : value,
  ]);
  return { ...event, data: Object.fromEntries(values) };
}
