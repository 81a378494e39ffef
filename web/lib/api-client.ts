import { ACTING_USER_HEADER, OTHER_USER } from '#contract/acting-user.ts';
import type { ErrorBody } from '#contract/errors.ts';
import { completeAnswer } from './complete-answer.ts';

/** Any answer that is not a success. The message reads `{status}: {body or status text}`. */
export class ApiError extends Error {
  readonly status: number;
  /** The `message` field of the answer, where it has one. */
  readonly serverMessage: string | undefined;
  readonly body: Partial<ErrorBody> | undefined;

  constructor(options: { status: number; statusText: string; text: string }) {
    super(`${options.status}: ${options.text || options.statusText}`);
    this.name = 'ApiError';
    this.status = options.status;
    this.body = parseErrorBody(options.text);
    this.serverMessage = typeof this.body?.message === 'string' ? this.body.message : undefined;
  }
}

export type QueryParams = Record<string, string | number | boolean | null | undefined>;

interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  params?: QueryParams | undefined;
  body?: unknown;
  signal?: AbortSignal | undefined;
  /** No cache may answer. */
  uncached?: boolean;
  /** For any signed-in user: the look-up of the session. */
  anyUser?: boolean;
}

let actingUser: string | null = null;

/**
 * Sets the user of the shown screens. Requests name the user, so that the server refuses them once another tab has
 * signed in as another user; an answer that arrives after that is dropped.
 */
export function actAs(userId: string | null): void {
  actingUser = userId;
}

/** Sends cookies always, a JSON body only when there is one, and reads JSON. Empty parameters are left out. */
export async function requestJson<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  const askedBy = options.anyUser ? null : actingUser;
  const response = await fetch(withParams(path, options.params), {
    method: options.method ?? 'GET',
    credentials: 'include',
    headers: {
      accept: 'application/json',
      ...(askedBy === null ? {} : { [ACTING_USER_HEADER]: askedBy }),
      ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(options.uncached ? { 'cache-control': 'no-cache', pragma: 'no-cache' } : {}),
    },
    ...(options.uncached ? { cache: 'no-store' as const } : {}),
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal ? { signal: options.signal } : {}),
  }).catch(explainNoAnswer);
  if (!response.ok) {
    const text = await response.text();
    throw new ApiError({ status: response.status, statusText: response.statusText, text });
  }
  const answer = completeAnswer({ method: options.method ?? 'GET', path }, await response.json()) as Answer;
  if (askedBy !== null && askedBy !== actingUser)
    throw new Error('Another user has signed in to this browser');
  return answer;
}

/** Browsers word it differently: 'Failed to fetch', 'Load failed'. */
function explainNoAnswer(error: unknown): never {
  throw error instanceof TypeError ? new Error('The server cannot be reached', { cause: error }) : error;
}

export function withParams(path: string, params: QueryParams = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

/** The server's own message, or the given text without one (no connection, not our JSON). */
export function serverMessage(error: unknown, otherwise: string): string {
  return error instanceof ApiError ? (error.serverMessage ?? otherwise) : otherwise;
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

/** The session belongs to another user than the shown screens. */
export const isOfOtherUser = (error: unknown): boolean =>
  error instanceof ApiError && error.body?.failureType === OTHER_USER;

function parseErrorBody(text: string): Partial<ErrorBody> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Partial<ErrorBody>) : undefined;
  } catch {
    return undefined;
  }
}
