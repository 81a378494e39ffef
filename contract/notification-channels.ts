import { z } from 'zod';
import { NOTICE_CODES, SEVERITIES } from './notices.ts';
import { limitedText, plainText } from './text.ts';

export const CHANNEL_KINDS = ['webhook', 'telegram', 'discord', 'slack', 'email'] as const;
export type ChannelKind = (typeof CHANNEL_KINDS)[number];

export const MAX_CHANNEL_NAME = 60;
export const MAX_CHANNELS = 20;

const address = (what: string) =>
  z
    .string(`${what} is required`)
    .max(2_000)
    .refine((text) => URL.canParse(text), `${what} must be an address such as https://example.com/hook`);
const line = (what: string, max: number) =>
  z
    .string(`${what} is required`)
    .trim()
    .min(1, `${what} is required`)
    .max(max, `${what} is too long`)
    .regex(/^[^\r\n\0]*$/, `${what} must be one line`);

/** `whsec_` and the base64 of 24 to 64 bytes, as Standard Webhooks has it. */
const signingSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,88}={0,2}$/, 'Secret must be whsec_ and the base64 of 24 to 64 bytes');

/** What each kind of channel needs; a field that the screen calls secret is shown as a hint only. */
export const CHANNEL_CONFIGS = {
  webhook: z.strictObject({ url: address('URL'), secret: signingSecret.optional() }),
  telegram: z.strictObject({
    botToken: z.string('Bot token is required').regex(/^\d{3,20}:[\w-]{20,100}$/, 'Bot token is not one'),
    chatId: z
      .string('Chat id is required')
      .regex(/^(-?\d{1,20}|@\w{4,40})$/, 'Chat id must be a number or an @name'),
  }),
  discord: z.strictObject({ url: address('URL') }),
  slack: z.strictObject({ url: address('URL') }),
  email: z.strictObject({
    host: line('Host', 253).regex(/^[\w.:-]+$/, 'Host must be a name or an address'),
    port: z
      .int('Port must be a whole number')
      .min(1, 'Port must be from 1 to 65535')
      .max(65_535, 'Port must be from 1 to 65535'),
    secure: z.boolean('Secure must be true or false'),
    username: line('User name', 320).optional(),
    password: z.string().min(1).max(1_000).optional(),
    from: line('From', 320).regex(/@/, 'From must be an e-mail address'),
    to: line('To', 1_000).regex(/@/, 'To must be an e-mail address'),
  }),
} as const satisfies Record<ChannelKind, z.ZodType>;

export type ChannelConfig = {
  [Kind in ChannelKind]: { kind: Kind } & z.infer<(typeof CHANNEL_CONFIGS)[Kind]>;
}[ChannelKind];

/** Never answered; the address of a webhook may hold a secret too. */
export const CHANNEL_SECRETS: Record<ChannelKind, readonly string[]> = {
  webhook: ['url', 'secret'],
  telegram: ['botToken'],
  discord: ['url'],
  slack: ['url'],
  email: ['password'],
};

const timeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'A time must be from 00:00 to 23:59');

/**
 * A change may leave out what it does not change of `config`: a secret keeps its value then, and also when its hint is
 * sent back. The kind stays.
 */
export const channelBody = z.object({
  kind: z.enum(CHANNEL_KINDS, `kind must be one of ${CHANNEL_KINDS.join(', ')}`),
  name: plainText('Name', MAX_CHANNEL_NAME).trim().min(1, 'Name is required'),
  config: z.record(limitedText(100), z.union([limitedText(2000), z.number(), z.boolean(), z.null()])),
  minSeverity: z.enum(SEVERITIES).default('info'),
  /** Null or left out: all. */
  codes: z.array(z.enum(NOTICE_CODES)).max(100).nullable().optional(),
  quietHours: z.object({ from: timeOfDay, to: timeOfDay }).nullable().optional(),
  enabled: z.boolean().default(true),
  /** Answers commands from the chat of a Telegram channel. Left out: as it is. Its owner switches it on, with a step-up. */
  answers: z.boolean('answers must be true or false').optional(),
});
export type ChannelBody = z.input<typeof channelBody>;

export const notificationChannel = z.object({
  id: z.string(),
  kind: z.enum(CHANNEL_KINDS),
  name: z.string(),
  /** Secrets as hints. */
  config: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
  minSeverity: z.enum(SEVERITIES),
  codes: z.array(z.enum(NOTICE_CODES)).nullable(),
  quietHours: z.object({ from: z.string(), to: z.string() }).nullable(),
  enabled: z.boolean(),
  /** Whether commands from its chat are answered (Telegram). */
  answers: z.boolean(),
  /** Why the bot could not be asked for commands the last time; null when it could. */
  answersError: z.string().nullable(),
  /** Until when a command has muted everything but critical notices; null: not muted. */
  mutedUntil: z.string().nullable(),
  /** Whose channel it is: administrators see all of them. */
  owner: z.object({ id: z.string(), username: z.string() }),
  createdAt: z.string(),
  updatedAt: z.string(),
  lastSentAt: z.string().nullable(),
  /** Why the last try failed; null once one has worked. */
  lastError: z.string().nullable(),
  lastErrorAt: z.string().nullable(),
  /** Notices that wait to be sent. */
  waiting: z.number(),
});
export type NotificationChannel = z.infer<typeof notificationChannel>;

export const notificationChannels = z.object({ channels: z.array(notificationChannel) });
export type NotificationChannels = z.infer<typeof notificationChannels>;

/** `secret`: of a webhook whose secret was made here; it is not shown again. */
export const createdChannel = notificationChannel.extend({ secret: z.string().optional() });
export type CreatedChannel = z.infer<typeof createdChannel>;

export const channelTest = z.object({ ok: z.boolean(), detail: z.string() });
export type ChannelTest = z.infer<typeof channelTest>;
