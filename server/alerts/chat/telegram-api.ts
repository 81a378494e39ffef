import type { Dispatcher } from 'undici';
import { readResult, requestChecked, type SendOptions, type SendResult } from '../send-http.ts';

/** An update of a bot, as far as it is used: https://core.telegram.org/bots/api#update. */
export interface TelegramUpdate {
  update_id: number;
  message?: TelegramMessage;
  callback_query?: { id: string; from: TelegramPerson; data?: string; message?: TelegramMessage };
}

export interface TelegramMessage {
  /** Rises within a chat. */
  message_id: number;
  chat: { id: number };
  from?: TelegramPerson;
  text?: string;
}

export interface TelegramPerson {
  id: number;
  is_bot?: boolean;
  username?: string;
}

export interface TelegramOptions extends SendOptions {
  /** Of the Bot API. */
  telegramUrl: string;
  botToken: string;
}

const MOST_BYTES = 4 * 1024 * 1024;

/** Calls a method of the Bot API; never throws. `result` is what it answered. */
export async function callTelegram<Result>(
  { telegramUrl, botToken, ...options }: TelegramOptions,
  method: string,
  body: object,
): Promise<{ ok: true; result: Result } | (SendResult & { ok: false })> {
  const answer = await requestChecked<{ ok: true; result: Result } | SendResult>(
    {
      ...options,
      url: `${telegramUrl}/bot${botToken}/${method}`,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(body),
    },
    async (response, clock) =>
      response.statusCode === 200 ? await readAnswer<Result>(response) : await readResult(response, clock),
  );
  if ('result' in answer) return answer;
  return { ...answer, ok: false };
}

const UNREADABLE: SendResult = { ok: false, detail: 'The answer of Telegram could not be read' };

async function readAnswer<Result>({
  body,
}: Dispatcher.ResponseData): Promise<{ ok: true; result: Result } | SendResult> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return UNREADABLE;
    chunks.push(chunk);
  }
  try {
    const answer = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { ok?: unknown; result?: Result };
    return answer.ok === true && answer.result !== undefined
      ? { ok: true, result: answer.result }
      : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}
