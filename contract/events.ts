import { z } from 'zod';

/**
 * What may have changed. Triggers of the database announce these; the ingest announces deliveries and price logs.
 */
export const CHANGE_TOPICS = [
  'signals',
  'price-logs',
  'workflows',
  'workflow-steps',
  'workflow-users',
  'calculations',
  'trades',
  'deliveries',
  'hooks',
  'users',
  'trading-halts',
  'sessions',
] as const;
export type ChangeTopic = (typeof CHANGE_TOPICS)[number];

/** Ids narrow a change down to a record; without them anything of the topic may have changed. */
export const change = z.object({
  topic: z.enum(CHANGE_TOPICS),
  signalId: z.string().optional(),
  workflowId: z.string().optional(),
  tradeId: z.string().optional(),
  userId: z.string().nullable().optional(),
});
export type Change = z.infer<typeof change>;
export const changes = z.array(change);

/**
 * The events of GET /api/events. `ready`: from here on nothing is missed; `changes`: a list of `Change`;
 * `gap`: something may have been missed, so everything has to be fetched again; `beat`: the stream lives.
 */
export const EVENT_NAMES = ['ready', 'changes', 'gap', 'beat'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** A stream that has been silent for twice this long is dead. */
export const BEAT_MS = 10_000;
