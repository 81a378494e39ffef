import { ACTING_USER_HEADER, OTHER_USER } from '#contract/acting-user.ts';
import type { ErrorBody } from '#contract/errors.ts';
import type { FACTOR_REQUIRED, STEP_UP_REQUIRED } from '#contract/factors.ts';
import { completeAnswer } from './complete-answer.ts';
import { confirmStepUp, countConfirmations } from './step-up.ts';

// Only their types are imported: the contract's code would double the sign-in.
const STEP_UP: typeof STEP_UP_REQUIRED = 'stepUpRequired';
const FACTOR: typeof FACTOR_REQUIRED = 'factorRequired';

/** Any answer outside the 2xx range. The message reads `{status}: {body or status text}`. */
export class ApiError extends Error {
  readonly status: number;
  /** The answer's `message` field, if it has one. */
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
  /** Bypass all caches. */
  uncached?: boolean;
  /** Send no acting user, as for the session look-up. */
  anyUser?: boolean;
}

let actingUser: string | null = null;

/**
 * Sets the user of the displayed screens. Requests name this user, so that the server refuses them once another tab has
 * signed in as someone else; an answer that arrives after the switch is dropped.
 */
export function actAs(userId: string | null): void {
  actingUser = userId;
}

/**
 * Sends cookies and an optional JSON body, and parses the JSON answer. Omits empty parameters. When the server wants a
 * confirmation first, asks the user for it and repeats the call once; throws the refusal if they cancel.
 */
export async function requestJson<Answer>(path: string, options: RequestOptions = {}): Promise<Answer> {
  const askedBy = options.anyUser ? null : actingUser;
  const since = countConfirmations();
  try {
    return await send<Answer>(path, options, askedBy);
  } catch (error) {
    if (!hasFailureType(error, STEP_UP) || !(await confirmStepUp({ since }))) throw error;
    return await send<Answer>(path, options, askedBy);
  }
}

async function send<Answer>(path: string, options: RequestOptions, askedBy: string | null): Promise<Answer> {
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
  const body: unknown = response.status === 204 ? null : await response.json();
  const answer = (
    body === null ? null : completeAnswer({ method: options.method ?? 'GET', path }, body)
  ) as Answer;
  if (askedBy !== null && askedBy !== actingUser)
    throw new Error('Another user has signed in to this browser');
  return answer;
}

/** Unifies the browsers' messages: 'Failed to fetch', 'Load failed'. */
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

/** The server's own message, or `otherwise` when there is none (no connection, not our JSON). */
export function serverMessage(error: unknown, otherwise: string): string {
  return error instanceof ApiError ? (error.serverMessage ?? otherwise) : otherwise;
}

export function isStatus(error: unknown, status: number): boolean {
  return error instanceof ApiError && error.status === status;
}

/** Whether the session belongs to another user than the displayed screens. */
export const isOfOtherUser = (error: unknown): boolean => hasFailureType(error, OTHER_USER);

/** Whether the user has to set up a second factor before anything else. */
export const isFactorMissing = (error: unknown): boolean => hasFailureType(error, FACTOR);

const hasFailureType = (error: unknown, failureType: string): boolean =>
  error instanceof ApiError && error.body?.failureType === failureType;

function parseErrorBody(text: string): Partial<ErrorBody> | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Partial<ErrorBody>) : undefined;
  } catch {
    return undefined;
  }
}
