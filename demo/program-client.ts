import { setTimeout as sleep } from 'node:timers/promises';
import { STEP_UP_REQUIRED } from '#contract/factors.ts';
import type { Webhook } from '#contract/hooks.ts';
import type { Message } from './messages.ts';

/** The program over HTTP, signed in. */
export interface ProgramClient {
  get<Answer>(path: string): Promise<Answer>;
  post<Answer>(path: string, body: unknown): Promise<Answer>;
  put<Answer>(path: string, body: unknown): Promise<Answer>;
  /** The Cookie header of the session. */
  cookie(): string;
}

/** Signs in, and confirms with the password where it is needed. Errors carry the response status as their cause. */
export async function signIn(options: {
  url: string;
  username: string;
  password: string;
}): Promise<ProgramClient> {
  const { url, username, password } = options;
  let cookie = '';

  async function call<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
    const answer = await fetch(url + path, {
      method,
      headers: { cookie, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (answer.status === 403 && text.includes(STEP_UP_REQUIRED)) {
      await call('POST', '/api/auth/step-up', { password });
      return await call(method, path, body);
    }
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`, { cause: answer.status });
    cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? cookie;
    return JSON.parse(text) as Answer;
  }

  const client: ProgramClient = {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
    cookie: () => cookie,
  };
  await client.post('/api/auth/login', { username, password });
  return client;
}

/** The user's webhook key; creates the webhook if there is none. */
export async function ensureHookKey(options: { client: ProgramClient; password: string }): Promise<string> {
  const { client, password } = options;
  const [hook] = await client.get<Webhook[]>('/api/hooks');
  if (hook === undefined) return (await client.post<Webhook>('/api/hooks', {})).hookKey;
  await client.post('/api/auth/verify-password', { password });
  const [revealed] = await client.get<Webhook[]>('/api/hooks');
  if (revealed === undefined || revealed.masked) throw new Error('The webhook key could not be read');
  return revealed.hookKey;
}

export interface HookAnswer {
  status: number;
  duplicate?: boolean;
  message?: string;
}

const TRIES = 3;

/** Posts one delivery as the charting platform does: repeats only after a 5xx. */
export async function deliver(options: { url: string; key: string; message: Message }): Promise<HookAnswer> {
  const { url, key, message } = options;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(`${url}/hooks/${message.route}?hkid=${key}`, {
      method: 'POST',
      headers: { 'content-type': `${message.contentType}; charset=utf-8` },
      body: message.body,
    });
    const body = (await answer.json()) as Omit<HookAnswer, 'status'>;
    if (answer.status < 500 || attempt === TRIES) return { ...body, status: answer.status };
    await sleep(1000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}
