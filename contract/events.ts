import { z } from 'zod';

/** What may have changed. The ingest announces deliveries and price logs; database triggers announce the rest. */
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
  'trading-stops',
  'flattens',
  'sessions',
  'notifications',
] as const;
export type ChangeTopic = (typeof CHANGE_TOPICS)[number];

/** Ids narrow a change down to one record; without them, any record of the topic may have changed. */
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
 * The events of GET /api/events. `ready`: no change after this is missed; `changes`: a list of `Change`;
 * `gap`: changes may have been missed, so fetch everything again; `beat`: the stream is alive.
 */
export const EVENT_NAMES = ['ready', 'changes', 'gap', 'beat'] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** Interval of `beat`; a stream that is silent for twice as long is dead. */
export const BEAT_MS = 10_000;
