import { setTimeout as sleep } from 'node:timers/promises';
import type { Message } from './messages.ts';

/** The program over HTTP, signed in as its administrator. */
export interface ProgramClient {
  get<Answer>(path: string): Promise<Answer>;
  post<Answer>(path: string, body: unknown): Promise<Answer>;
  put<Answer>(path: string, body: unknown): Promise<Answer>;
}

export class RefusedError extends Error {
  override name = 'RefusedError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

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
    if (!answer.ok) throw new RefusedError(answer.status, `${method} ${path}: ${answer.status} ${text}`);
    const [given] = answer.headers.getSetCookie();
    if (given !== undefined) cookie = given.split(';')[0] ?? '';
    return JSON.parse(text) as Answer;
  }

  const client: ProgramClient = {
    get: (path) => call('GET', path),
    post: (path, body) => call('POST', path, body),
    put: (path, body) => call('PUT', path, body),
  };
  await client.post('/api/auth/login', { username, password });
  return client;
}

export interface HookAnswer {
  status: number;
  duplicate: boolean;
  message: string;
}

const TRIES = 3;

/** Posts one delivery as the charting platform does: sent again after a 5xx alone. */
export async function deliver(options: { url: string; key: string; message: Message }): Promise<HookAnswer> {
  const { url, key, message } = options;
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(`${url}${message.route}?hkid=${key}`, {
      method: 'POST',
      headers: { 'content-type': message.contentType },
      body: message.body,
    });
    const text = await answer.text();
    if (answer.status < 500 || attempt === TRIES) {
      const { duplicate = false, message: reason = '' } = parse(text);
      return { status: answer.status, duplicate, message: reason };
    }
    await sleep(1000 * Number(answer.headers.get('retry-after') ?? 1));
  }
}

function parse(text: string): Partial<Pick<HookAnswer, 'duplicate' | 'message'>> {
  try {
    return JSON.parse(text) as Partial<HookAnswer>;
  } catch {
    return { message: text };
  }
}
