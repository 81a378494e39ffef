import { text } from 'node:stream/consumers';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { expect } from 'vitest';
import type { App } from '#server/platform/http/http-app.ts';

export type Answer = LightMyRequestResponse;

/** The id of nothing. */
export const UNKNOWN_ID = '01890a5d-ac96-774b-bcce-b302099a8057';

/** The text of an answer that was asked for with `payloadAsStream`; of one that stays open, nothing. */
export async function textOf(answer: Answer): Promise<string> {
  if (!`${answer.headers['content-type']}`.startsWith('text/event-stream'))
    return await text(answer.stream());
  answer.stream().destroy();
  return '';
}

/** Checks status and body; a text stands for `{ message }`. */
export function expectAnswer(answer: Answer, status: number, body: unknown): void {
  const wanted = typeof body === 'string' ? { message: body } : body;
  expect([answer.statusCode, answer.json()], answer.body).toEqual([status, wanted]);
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Extra = Pick<InjectOptions, 'headers' | 'remoteAddress'>;

/** Calls the app in process; with a cookie when signed in. */
export interface TestClient {
  /** The session cookie as the browser would send it; empty when signed out. */
  cookie: string;
  get(url: string, extra?: Extra): Promise<Answer>;
  post(url: string, body?: unknown, extra?: Extra): Promise<Answer>;
  put(url: string, body?: unknown, extra?: Extra): Promise<Answer>;
  patch(url: string, body?: unknown, extra?: Extra): Promise<Answer>;
  delete(url: string, body?: unknown, extra?: Extra): Promise<Answer>;
  send(options: InjectOptions): Promise<Answer>;
}

export function testClient(app: App, cookie = ''): TestClient {
  const host = app.publicUrl === null ? {} : { host: new URL(app.publicUrl).host };
  const send = (options: InjectOptions) =>
    app.inject({
      ...options,
      headers: { ...host, ...(cookie === '' ? {} : { cookie }), ...options.headers },
    });
  const call =
    (method: Method) =>
    (url: string, body?: unknown, extra: Extra = {}) =>
      send({ ...extra, method, url, ...(body === undefined ? {} : { payload: body as object }) });
  return {
    cookie,
    get: (url, extra) => call('GET')(url, undefined, extra),
    post: call('POST'),
    put: call('PUT'),
    patch: call('PATCH'),
    delete: call('DELETE'),
    send,
  };
}

/**
 * Signs in, keeps the cookie and opens the five minutes of a step-up; throws the answer's text when the sign-in is
 * refused.
 */
export async function signIn(app: App, username: string, password: string): Promise<TestClient> {
  const client = await signInOnly(app, { username, password });
  const { statusCode, body } = await client.post('/api/auth/step-up', { password });
  if (statusCode !== 200) throw new Error(`The step-up of ${username} was answered ${statusCode}: ${body}`);
  return client;
}

/** `findCode`: for a user with a second factor, who cannot sign in without. */
export async function signInOnly(
  app: App,
  account: { username: string; password: string; findCode?: () => Promise<string> },
): Promise<TestClient> {
  const { username, password, findCode } = account;
  let answer = await testClient(app).post('/api/auth/login', { username, password });
  if (findCode !== undefined && answer.statusCode === 200 && 'factorRequired' in answer.json()) {
    const half = testClient(app, cookieOf(answer));
    answer = await half.post('/api/auth/login/factor', { code: await findCode() });
  }
  if (answer.statusCode !== 200 || !('user' in answer.json())) {
    throw new Error(`The sign-in of ${username} was answered ${answer.statusCode}: ${answer.body}`);
  }
  return testClient(app, cookieOf(answer));
}

/** The first cookie that an answer sets, as the browser would send it. */
export function cookieOf(answer: Answer): string {
  const [cookie] = answer.cookies;
  return cookie === undefined ? '' : `${cookie.name}=${cookie.value}`;
}
