import { z } from 'zod';
import { pagingQuery } from './paging.ts';
import { ownPassword, plainText } from './text.ts';

export const webhook = z.object({
  id: z.string(),
  name: z.string(),
  /** Unmasked for five minutes after a password check in the same session, and once after create and renew. */
  hookKey: z.string(),
  masked: z.boolean(),
  /** The key was sealed with another SECRET_KEY: it stays masked and accepts no delivery until it is renewed. */
  unreadable: z.boolean(),
  createdAt: z.string(),
  lastUsedAt: z.string().nullable(),
  /** Deliveries are refused from this instant until an administrator lifts the suspension. */
  suspendedAt: z.string().nullable(),
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

/** A webhook as administrators see it: the key is always masked. */
export const adminHook = z.object({
  id: z.string(),
  name: z.string(),
  userId: z.string(),
  username: z.string(),
  /** Deliveries to the webhook of an inactive user are refused. */
  userActive: z.boolean(),
  /** Signals of an administrator's webhook go to every eligible user; others go to their owner only. */
  isAdmin: z.boolean(),
  hookKey: z.string(),
  createdAt: z.string(),
  suspendedAt: z.string().nullable(),
  lastDeliveryAt: z.string().nullable(),
});
export type AdminHook = z.infer<typeof adminHook>;

export const ADMIN_HOOKS_PAGE_SIZE = 10;
export const adminHooksQuery = pagingQuery(ADMIN_HOOKS_PAGE_SIZE).extend({ userId: z.uuid().optional() });
export const adminHooksAnswer = z.object({ hooks: z.array(adminHook), total: z.number() });
export type AdminHooksAnswer = z.infer<typeof adminHooksAnswer>;

/** Either `suspended` without a password, or `generateNewKey` with the administrator's own password. */
export const adminHookBody = z
  .object({
    suspended: z.boolean('suspended must be true or false').optional(),
    generateNewKey: z.literal(true, 'generateNewKey must be true').optional(),
    password: ownPassword('Password').optional(),
  })
  .superRefine(({ suspended, generateNewKey, password }, { addIssue }) => {
    if ((suspended === undefined) === (generateNewKey === undefined)) {
      addIssue({ code: 'custom', path: ['suspended'], message: 'Send suspended or generateNewKey' });
    } else if (generateNewKey && password === undefined) {
      addIssue({ code: 'custom', path: ['password'], message: 'Password is required' });
    }
  });
export type AdminHookBody = z.infer<typeof adminHookBody>;

export const delivery = z.object({
  id: z.string(),
  kind: z.enum(['signal', 'candle']),
  result: z.enum(['stored', 'duplicate', 'refused', 'limited']),
  reason: z.string().nullable(),
  sourceIp: z.string(),
  receivedAt: z.string(),
  /** How many refused or limited deliveries of this minute have no row of their own; null in an ordinary row. */
  more: z.number().int().nullable(),
  /** What a refused delivery sent. */
  refused: z
    .object({
      /** Its first 2 KB, with `*` for what may be a secret. */
      body: z.string(),
      /** Where it stops being JSON, counted from 1; null when that is not why it was refused. */
      position: z.object({ line: z.number().int(), column: z.number().int() }).nullable(),
    })
    .optional(),
});
export type Delivery = z.infer<typeof delivery>;
/** The last 50 deliveries to a webhook, newest first: GET /api/hooks/{id}/deliveries */
export const deliveries = z.array(delivery);

/** Posted by 'Send test signal' and 'Send test candle'; handled like any other delivery. */
export const testDeliveryBody = z.object({
  kind: z.enum(['signal', 'candle']),
  payload: z.record(z.string().max(64), z.union([z.string().max(200), z.number()])),
});
export type TestDeliveryBody = z.infer<typeof testDeliveryBody>;

/** The answer that the charting platform would receive. */
export const testDeliveryAnswer = z.object({
  success: z.boolean(),
  id: z.string().nullable(),
  duplicate: z.boolean(),
  message: z.string(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })),
});
export type TestDeliveryAnswer = z.infer<typeof testDeliveryAnswer>;
