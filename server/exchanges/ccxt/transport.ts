import { type Dispatcher, request as send } from 'undici';
import type { Clock } from '#server/platform/clock.ts';
import type { CallResult, Metrics } from '#server/platform/metrics.ts';
import type { ExchangeEnvironment } from '../exchange.ts';
import { createTurns, type TransportLimits } from '../limits/transport-limits.ts';
import { type CallScope, currentScope, type ExchangeAnswer } from './call-scope.ts';
import { type Egress, openEgresses } from './transport-egress.ts';
import { TransportError, transportErrorOf } from './transport-error.ts';
import { callRecord, withoutSecrets } from './transport-record.ts';
import { callVenue, type Venue, VIEWER_HEADER } from './venue.ts';

/*
 * Every request to an exchange passes here.
 * 1. A request goes only to an origin configured at startup and never follows a redirect.
 * 2. It is sent only for an account of this transport's environment and never after its `notAfter`.
 * 3. It is sent once. The deadline covers the whole answer; a failure says whether the request may have been seen.
 * 4. A request whose scope only describes it never leaves.
 * 5. It waits until the exchange's request limits permit it, and is not sent at all if that is too late.
 */

export interface TransportOptions {
  environment: ExchangeEnvironment;
  /** Maps each origin that the client may use to the one that is really called. */
  origins: Record<string, string>;
  /** Forward proxies; a user always goes through the same one. */
  proxies?: readonly string[];
  /** The operator's name of the address that requests without a proxy leave through. */
  address?: string | null;
  /** If omitted, requests are not limited. */
  limits?: TransportLimits;
  timeoutMs: number;
  /** For tests: answers instead of the network. */
  venue?: Venue;
  clock: Clock;
  /** What in an outgoing request contradicts the environment, or null. */
  environmentProblem?: (environment: ExchangeEnvironment, headers: Record<string, string>) => string | null;
  /** Whether the exchange's own envelope reports success. */
  isSuccess: (answer: ExchangeAnswer) => boolean;
  /** Receives each answer with our times of its request and of its arrival. */
  onAnswer?: ((answered: TimedAnswer) => void) | undefined;
  /** Receives operation, result and duration of each request, but none of its contents. */
  onCounted?: ((call: CountedCall) => void) | undefined;
}

/** `seconds` starts when the request is sent. The wait for a turn is included only if the turn came too late. */
type CountedCall = Omit<Parameters<Metrics['exchangeCalled']>[0], 'platform'>;

export interface TimedAnswer {
  /** The type of the call. */
  type: string;
  answer: ExchangeAnswer;
  sentAt: Date;
  receivedAt: Date;
}

interface OutgoingRequest {
  method: string;
  headers?: Record<string, string | undefined> | undefined;
  body?: string | undefined;
}

/** The part of a fetch response that the client library reads. */
export interface TransportResponse {
  status: number;
  statusText: string;
  headers: Headers;
  text(): Promise<string>;
}

export interface Transport {
  /**
   * Waits until the next request of the current scope to this path may leave. Call it before the request is signed,
   * because exchanges reject signatures that are some seconds old; `fetch` waits for requests without a turn.
   */
  turn(path: string): Promise<void>;
  fetch(url: string, request: OutgoingRequest): Promise<TransportResponse>;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;
const MAX_ANSWER_BYTES = MIB;
const MAX_LIST_BYTES = 16 * MIB;
/** The calls whose answers are lists of any length. */
const LISTS = new Set([
  'contracts',
  'positions',
  'protection',
  'open-orders',
  'closed-orders',
  'closed-positions',
]);
/** Of these each row is read by itself, by readers of our own: one with such a number hides no other. */
const READ_BY_ROW = new Set(['contracts', 'positions', 'protection']);
/** The client library reads such a number for seconds, and nothing else runs meanwhile. */
const LONG_NUMBER = /[\d.]{65}/;

const notRead = (message: string) => new TransportError('sent', message, { isUnreadable: true });

const mostBytesOf = ({ type }: Pick<CallScope, 'type'>): number =>
  LISTS.has(type) ? MAX_LIST_BYTES : MAX_ANSWER_BYTES;

function requireReadable(answer: ExchangeAnswer, { type }: CallScope): void {
  if (READ_BY_ROW.has(type) || !LONG_NUMBER.test(answer.body)) return;
  throw notRead('the answer holds a number of more than 64 digits');
}

export function createTransport(options: TransportOptions): Transport {
  const { environment, timeoutMs, clock, venue } = options;
  const { now } = clock;
  const { proxies = [], address = null } = options;
  const egresses = openEgresses({ proxies, address, timeoutMs, now });
  const turns = venue ? null : createTurns({ egresses, limits: options.limits ?? null, timeoutMs, now });

  function check(scope: CallScope, target: URL | null, headers: Record<string, string>): URL {
    if (!target) throw new TransportError('not-sent', 'the address is not one of the exchange');
    if (scope.account && scope.account.environment !== environment) {
      const which = `${scope.account.environment} account, ${environment} connection`;
      throw new TransportError('not-sent', `the account belongs to another environment: ${which}`);
    }
    const problem = options.environmentProblem?.(environment, headers);
    if (problem) throw new TransportError('not-sent', problem);
    if (scope.notAfter && now() > scope.notAfter) {
      throw new TransportError('not-sent', `too late: nothing is sent after ${scope.notAfter.toISOString()}`);
    }
    return target;
  }

  async function exchange(
    url: URL,
    request: OutgoingRequest,
    headers: Record<string, string>,
    scope: CallScope,
    egress: Egress | null,
  ) {
    const signal = clock.deadline(timeoutMs);
    const call = { url, request, headers, signal, maxBytes: mostBytesOf(scope) };
    scope.sent = true;
    try {
      const answer = venue
        ? await askVenue(venue, call)
        : await callNetwork((egress ?? egresses.forPublic()).dispatcher, call);
      requireReadable(answer, scope);
      return answer;
    } catch (error) {
      const failure = transportErrorOf(error, timeoutMs);
      if (failure.phase !== 'sent') scope.sent = false;
      if (failure.phase === 'connect' && egress !== null) egresses.tookNoConnection(egress);
      throw failure;
    }
  }

  /** Refused answers end up in messages, call records and log lines; successful ones are read unchanged. */
  function cleanOf(answer: ExchangeAnswer, { account }: CallScope): ExchangeAnswer {
    if (account === null || options.isSuccess(answer)) return answer;
    return { ...answer, body: withoutSecrets(answer.body, account.credentials) };
  }

  async function counted<T>(scope: CallScope, work: () => Promise<T>, resultOf: () => CallResult | null) {
    const startedMs = clock.monotonicMs();
    const count = (result: CallResult | null) => {
      if (result === null || scope.describe !== undefined) return;
      const seconds = (clock.monotonicMs() - startedMs) / 1000;
      options.onCounted?.({ operation: scope.type, result, seconds });
    };
    try {
      const done = await work();
      count(resultOf());
      return done;
    } catch (error) {
      count(resultOfFailure(error));
      throw error;
    }
  }

  function resultOfAnswer({ answer }: CallScope): CallResult {
    if (answer === null) return 'no-answer';
    if (options.isSuccess(answer)) return 'success';
    if (answer.status === 429 || answer.status === 418) return 'rate-limited';
    return answer.status >= 500 ? 'server-error' : 'refused';
  }

  async function fetchOnce(
    scope: CallScope,
    url: string,
    request: OutgoingRequest,
  ): Promise<TransportResponse> {
    scope.answer = null;
    if (scope.describe !== undefined) {
      const endpoint = new URL(url).pathname;
      scope.describe({ method: request.method, endpoint, body: request.body ?? '' });
      throw new TransportError('not-sent', 'the request was described, not sent');
    }
    const headers = definedHeaders(request.headers);
    if (environment === 'paper' && scope.viewerUserId) headers[VIEWER_HEADER] = scope.viewerUserId;
    // `check` also tests `notAfter` after the wait.
    const way = (await turns?.claim(scope, new URL(url).pathname)) ?? null;
    let target: URL;
    try {
      target = check(scope, rewritten(url, options.origins), headers);
    } catch (error) {
      if (way !== null) await turns?.withoutAnswer(way);
      throw error;
    }
    const startedAt = now();
    const startedMs = clock.monotonicMs();
    const record = (answer: ExchangeAnswer | null, failure: TransportError | null) => {
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      const success = answer !== null && options.isSuccess(answer);
      scope.onCall?.(callRecord({ scope, request, target, startedAt, durationMs, answer, failure, success }));
    };
    try {
      const received = await exchange(target, request, headers, scope, way?.egress ?? null);
      const receivedAt = now();
      const answer = cleanOf(received, scope);
      scope.answer = answer;
      options.onAnswer?.({ type: scope.type, answer, sentAt: startedAt, receivedAt });
      if (way !== null) await turns?.applyLimitHeaders(way, answer);
      record(answer, null);
      if (answer.status >= 300 && answer.status < 400) {
        throw new TransportError('sent', `answered with a redirect (HTTP ${answer.status})`);
      }
      return {
        status: answer.status,
        statusText: '',
        headers: new Headers(answer.headers),
        text: async () => answer.body,
      };
    } catch (error) {
      if (scope.answer === null && way !== null) await turns?.withoutAnswer(way);
      if (error instanceof TransportError && scope.answer === null) record(null, error);
      throw error;
    }
  }

  return {
    async turn(path) {
      const scope = currentScope();
      await counted(
        scope,
        async () => turns?.take(scope, path),
        () => null,
      );
      const { announce } = scope;
      if (announce === undefined) return;
      scope.announce = undefined;
      let mayLeave = false;
      try {
        mayLeave = await announce();
      } finally {
        if (!mayLeave) await turns?.giveBack(scope, path);
      }
      if (!mayLeave) throw new TransportError('not-sent', 'the request was withdrawn before it left');
    },
    fetch(url, request) {
      const scope = currentScope();
      return counted(
        scope,
        () => fetchOnce(scope, url, request),
        () => resultOfAnswer(scope),
      );
    },
    close: () => egresses.close(),
  };
}

function rewritten(url: string, origins: Record<string, string>): URL | null {
  const source = new URL(url);
  const origin = Object.hasOwn(origins, source.origin) ? origins[source.origin] : undefined;
  return origin === undefined ? null : new URL(`${source.pathname}${source.search}`, origin);
}

/** The client library sets headers without a value to undefined, which would be sent as text. */
function definedHeaders(headers: OutgoingRequest['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

interface NetworkCall {
  url: URL;
  request: OutgoingRequest;
  headers: Record<string, string>;
  signal: AbortSignal;
  maxBytes: number;
}

async function askVenue(
  venue: Venue,
  { url, request, headers, signal, maxBytes }: NetworkCall,
): Promise<ExchangeAnswer> {
  const answer = await callVenue(venue, url, request, headers, signal);
  if (Buffer.byteLength(answer.body) > maxBytes) throw notRead('the answer is too long');
  return answer;
}

async function callNetwork(
  dispatcher: Dispatcher,
  { url, request, headers, signal, maxBytes }: NetworkCall,
): Promise<ExchangeAnswer> {
  const response = await send(url, {
    dispatcher,
    method: request.method as Dispatcher.HttpMethod,
    headers,
    body: request.body ?? null,
    signal,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw notRead('the answer is too long');
    chunks.push(chunk);
  }
  const answerHeaders = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  return {
    status: response.statusCode,
    headers: Object.fromEntries(answerHeaders),
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

const RESULTS = {
  'not-sent': 'not-sent',
  limited: 'not-sent',
  connect: 'unreachable',
  sent: 'no-answer',
} as const;

const resultOfFailure = (error: unknown): CallResult =>
  error instanceof TransportError ? RESULTS[error.phase] : 'no-answer';
