import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '#server/platform/clock.ts';
import {
  AddressRefusedError,
  lookupOf,
  type Resolve,
  readAddress,
  resolveChecked,
} from './checked-address.ts';

/** What became of one try. `detail` is shown to the owner: it holds nothing that a receiver has answered. */
export interface SendResult {
  ok: boolean;
  detail: string;
  /** How long the receiver wants to be left alone. */
  retryAfterMs?: number;
}

export interface SendOptions {
  clock: Clock;
  allowPrivate: boolean;
  /** Ends the try, when the program stops. */
  signal?: AbortSignal | undefined;
  resolve?: Resolve | undefined;
  timeoutMs?: number | undefined;
}

export const SEND_TIMEOUT_MS = 10_000;
/** Nothing of an answer is needed but how long to wait. */
const MOST_BYTES = 16 * 1024;
const LONGEST_WAIT_MS = 3_600_000;

export interface HttpOptions extends SendOptions {
  url: string;
  method?: 'POST' | 'GET';
  headers?: Record<string, string>;
  body?: string;
}

/** Sends one request to a checked address, follows no redirect, and reads a limited part of the answer. */
export const sendHttp = (options: HttpOptions): Promise<SendResult> => requestChecked(options, readResult);

/** The same, with a reader of one's own for the answer. It has to read or drop the body. */
export async function requestChecked<Result>(
  options: HttpOptions,
  read: (answer: Dispatcher.ResponseData, clock: Clock) => Promise<Result>,
): Promise<Result | SendResult> {
  const {
    url,
    method = 'POST',
    headers = {},
    body,
    clock,
    allowPrivate,
    resolve,
    timeoutMs = SEND_TIMEOUT_MS,
  } = options;
  const timeout = clock.deadline(timeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  let agent: Agent | null = null;
  try {
    const target = readAddress(url, { allowPrivate });
    const checked = await orAbort(resolveChecked(target.hostname, { allowPrivate, resolve }), signal);
    agent = new Agent({ connect: { lookup: lookupOf(checked), timeout: timeoutMs }, pipelining: 0 });
    const answer = await request(target, {
      method,
      dispatcher: agent,
      signal,
      headers: { 'user-agent': 'Signal Board', ...headers },
      ...(body === undefined ? {} : { body }),
    });
    return await read(answer, clock);
  } catch (error) {
    return { ok: false, detail: failureText(error, timeoutMs) };
  } finally {
    await agent?.destroy().catch(() => undefined);
  }
}

export async function readResult(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  clock: Clock,
): Promise<SendResult> {
  // What is left of the body is dropped with the connection.
  body.on('error', () => undefined);
  if (statusCode >= 200 && statusCode < 300) {
    body.destroy();
    return { ok: true, detail: `Accepted (${statusCode})` };
  }
  if (statusCode >= 300 && statusCode < 400) {
    body.destroy();
    return { ok: false, detail: `The receiver redirects (${statusCode}); redirects are not followed` };
  }
  const waitMs =
    waitOf(headers['retry-after'], clock.now()) ?? (statusCode === 429 ? await waitInBody(body) : null);
  body.destroy();
  return {
    ok: false,
    detail: `The receiver answered ${statusCode}`,
    ...(waitMs === null ? {} : { retryAfterMs: Math.min(waitMs, LONGEST_WAIT_MS) }),
  };
}

/** Seconds or a date. */
function waitOf(header: string | string[] | undefined, now: Date): number | null {
  const text = [header].flat()[0];
  if (text === undefined) return null;
  if (/^\d{1,9}(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - now.getTime());
}

/** Telegram and Discord say in the body how many seconds to wait. */
async function waitInBody(body: AsyncIterable<Buffer>): Promise<number | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) return null;
    chunks.push(chunk);
  }
  try {
    const answer = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
      retry_after?: unknown;
      parameters?: { retry_after?: unknown };
    };
    const seconds = Number(answer.parameters?.retry_after ?? answer.retry_after);
    return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : null;
  } catch {
    return null;
  }
}

/** A name that does not resolve in time must not hold up the rest. */
export async function orAbort<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Messages of libraries can contain addresses with secrets, so only known failures are named. */
export function failureText(error: unknown, timeoutMs: number): string {
  if (error instanceof AddressRefusedError) return error.message;
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') {
    return `No answer within ${Math.round(timeoutMs / 1_000)} s`;
  }
  if (name === 'AbortError') return 'The program stopped during the try';
  if (code === 'ECONNREFUSED') return 'The receiver refused the connection';
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'The receiver cut the connection';
  if (code !== undefined && /^ERR_TLS|CERT|SSL|^UNABLE_TO_VERIFY/.test(code)) {
    return 'The certificate of the receiver was not accepted';
  }
  return 'The receiver could not be reached';
}
