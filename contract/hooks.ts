import { z } from 'zod';
import { ownPassword, plainText } from './text.ts';

export const webhook = z.object({
  id: z.string(),
  name: z.string(),
  /** Whole after a password check in the same session (five minutes) and once after create and renew; else masked. */
  hookKey: z.string(),
  masked: z.boolean(),
  /** Its key was sealed under another SECRET_KEY: it stays masked, and opens nothing, until it is renewed. */
  unreadable: z.boolean(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
});
export type Webhook = z.infer<typeof webhook>;
export const webhooks = z.array(webhook);

export const DEFAULT_WEBHOOK_NAME = 'Default Webhook';

export const createHookBody = z.object({
  name: plainText('Name', 100).min(1, 'Name is required').default(DEFAULT_WEBHOOK_NAME),
});
export const renewHookBody = z.object({
  name: plainText('Name', 100).min(1, 'Name is required').optional(),
  generateNewKey: z.literal(true),
  password: ownPassword('Password'),
});
export const deleteHookBody = z.object({ password: ownPassword('Password') });

export const delivery = z.object({
  id: z.string(),
  kind: z.enum(['signal', 'candle']),
  result: z.enum(['stored', 'duplicate', 'refused', 'limited']),
  reason: z.string().nullable(),
  sourceIp: z.string(),
  receivedAt: z.string(),
});
export type Delivery = z.infer<typeof delivery>;
/** The last 50 deliveries to a webhook, newest first: GET /api/hooks/{id}/deliveries */
export const deliveries = z.array(delivery);

/** What 'Send test signal' and 'Send test candle' post; it goes the way of every delivery. */
export const testDeliveryBody = z.object({
  kind: z.enum(['signal', 'candle']),
  payload: z.record(z.string().max(64), z.union([z.string().max(200), z.number()])),
});
export type TestDeliveryBody = z.infer<typeof testDeliveryBody>;

/** The answer that the charting platform would have got. */
export const testDeliveryAnswer = z.object({
  success: z.boolean(),
  id: z.string().nullable(),
  duplicate: z.boolean(),
  message: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })),
});
export type TestDeliveryAnswer = z.infer<typeof testDeliveryAnswer>;
