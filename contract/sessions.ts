import { z } from 'zod';

export const sessionEntry = z.object({
  id: z.string(),
  /** The session that asks. */
  current: z.boolean(),
  /** Browser and system in words: 'Firefox on Linux'; null when unknown. */
  device: z.string().nullable(),
  address: z.string().nullable(),
  createdAt: z.string(),
  lastSeenAt: z.string(),
});
export type SessionEntry = z.infer<typeof sessionEntry>;

export const sessionList = z.object({ sessions: z.array(sessionEntry) });

/** How many sessions were ended besides the caller's own. */
export const endedSessions = z.object({ message: z.string(), ended: z.number() });
export type EndedSessions = z.infer<typeof endedSessions>;
export type SessionList = z.infer<typeof sessionList>;
