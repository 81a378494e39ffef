import { type Change, change } from '#contract/events.ts';
import type { Clock } from './clock.ts';
import { createNotificationFeed, type NotificationFeed } from './db/notification-feed.ts';
import type { DatabaseConnection } from './db/pool.ts';
import type { Logger } from './log.ts';

/** Must match announce_changes (migrations/0000_baseline.sql). */
export const CHANGES_CHANNEL = 'signal_board_changes';

/** The changes of all instances, as announced on the channel. */
export type ChangeFeed = NotificationFeed<Change>;

export const createChangeFeed = (options: {
  connection: DatabaseConnection;
  clock: Clock;
  log: Logger;
}): ChangeFeed =>
  createNotificationFeed({ ...options, channel: CHANGES_CHANNEL, what: 'changes', read: readChange });

function readChange(payload: string): Change | null {
  try {
    return change.safeParse(JSON.parse(payload)).data ?? null;
  } catch {
    return null;
  }
}
