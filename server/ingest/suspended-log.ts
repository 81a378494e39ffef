import type { Queryable } from '#server/platform/db/database.ts';
import { databaseErrorCode } from '#server/platform/db/database-errors.ts';
import type { Logger } from '#server/platform/log.ts';
import type { Delivery } from './arrival.ts';
import { insertLogLines, type LogLine } from './delivery-log.store.ts';

const MINUTE_MS = 60_000;
/** Enough to see that alerts still come; a key that is meant to be dead must not fill the log. */
const LINES_A_MINUTE = 10;
const WRITTEN_AFTER_MS = 1_000;

const ENTRY = { result: 'refused', reason: 'The webhook is suspended', recordId: null } as const;

/**
 * Shows owners what their suspended webhooks refuse. Written after the answers, so that a suspended key takes as long to
 * answer as an unknown one.
 */
export interface SuspendedLog {
  note(hookId: string, delivery: Delivery): void;
  /** Resolves when all that was noted has been written. */
  idle(): Promise<void>;
}

export function createSuspendedLog(options: {
  db: Queryable;
  log: Logger;
  /** After the commit, with the webhooks that got lines. */
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
