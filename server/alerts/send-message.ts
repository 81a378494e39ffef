import { Webhook } from 'standardwebhooks';
import type { NoticeData, NoticeSubject, Severity } from '#contract/notices.ts';
import type { ChannelConfig } from '#contract/notification-channels.ts';
import { cutText } from '#server/platform/cut-text.ts';
import { sendEmail } from './send-email.ts';
import { type SendOptions, type SendResult, sendHttp } from './send-http.ts';

/** What a channel receives; the body of a webhook. */
export interface Message {
  /** The same for every try and channel: receivers drop doubles by it. */
  id: string;
  code: string;
  severity: Severity;
  at: string;
  text: string;
  link: string;
  subject: NoticeSubject;
  data: NoticeData;
}

export interface MessageOptions extends SendOptions {
  /** Of the Telegram Bot API. */
  telegramUrl: string;
}

const MARKS: Record<Severity, string> = { info: 'ℹ️', warning: '⚠️', critical: '🚨' };
/** What the services take in one message. */
const LONGEST = { telegram: 4_096, discord: 2_000, slack: 4_000 };

/** Makes one try. Never throws: a result says what happened. */
export async function sendMessage(
  config: ChannelConfig,
  message: Message,
  options: MessageOptions,
): Promise<SendResult> {
  switch (config.kind) {
    case 'webhook':
      return await sendWebhook(config, message, options);
    case 'telegram': {
      const url = `${options.telegramUrl}/bot${config.botToken}/sendMessage`;
      const text = cutText(plainText(message), LONGEST.telegram);
      return await sendJson(url, { chat_id: config.chatId, text, disable_web_page_preview: true }, options);
    }
    case 'discord': {
      const content = cutText(plainText(message), LONGEST.discord);
      return await sendJson(config.url, { content, allowed_mentions: { parse: [] } }, options);
    }
    case 'slack': {
      const text = cutText(plainText(message).replaceAll(/[&<>]/g, escaped), LONGEST.slack);
      return await sendJson(config.url, { text }, options);
    }
    case 'email': {
      const { id, severity, text } = message;
      const subject = cutText(`[Signal Board] ${severity}: ${text}`, 200);
      return await sendEmail(config, { id, subject, text: plainText(message) }, options);
    }
  }
}

const escaped = (character: string) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character] ?? character;

const plainText = ({ severity, text, link, at }: Message) =>
  [`${MARKS[severity]} ${text}`, at, link].filter((line) => line !== '').join('\n');

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };

const sendJson = (url: string, body: object, options: MessageOptions): Promise<SendResult> =>
  sendHttp({ ...options, url, headers: JSON_TYPE, body: JSON.stringify(body) });

/** Signed as https://www.standardwebhooks.com has it. */
async function sendWebhook(
  { url, secret }: Extract<ChannelConfig, { kind: 'webhook' }>,
  message: Message,
  options: MessageOptions,
): Promise<SendResult> {
  if (secret === undefined) return { ok: false, detail: 'The channel has no secret: enter one' };
  const body = JSON.stringify(message);
  const at = options.clock.now();
  const headers = {
    ...JSON_TYPE,
    'webhook-id': message.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(message.id, at, body),
  };
  return await sendHttp({ ...options, url, headers, body });
}
