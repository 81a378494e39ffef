import { z } from 'zod';
import { NOTICE_CODES, SEVERITIES } from './notices.ts';
import { pagingQuery } from './paging.ts';

/** A notice in the inbox of the signed-in user, newest first. */
export const notification = z.object({
  id: z.string(),
  code: z.enum(NOTICE_CODES),
  severity: z.enum(SEVERITIES),
  at: z.string(),
  text: z.string(),
  link: z.string(),
  read: z.boolean(),
});
export type Notification = z.infer<typeof notification>;

export const notificationsQuery = pagingQuery(20).extend({
  severity: z.enum(SEVERITIES, `severity must be one of ${SEVERITIES.join(', ')}`).optional(),
  unread: z.enum(['true', 'false'], 'unread must be true or false').optional(),
});

export const notificationsAnswer = z.object({ notifications: z.array(notification), total: z.number() });
export type NotificationsAnswer = z.infer<typeof notificationsAnswer>;

/** Either some or all. */
export const readNotificationsBody = z.union([
  z.strictObject({ ids: z.array(z.uuid()).max(1_000) }),
  z.strictObject({ all: z.literal(true) }),
]);
export type ReadNotificationsBody = z.infer<typeof readNotificationsBody>;

export const readNotificationsAnswer = z.object({ unread: z.number() });
