import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isSecure } from './access-sessions.ts';
import { errorBodyOf, toAppError } from './errors.ts';
import type { Area } from './request-areas.ts';

const policy = (styleSources: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styleSources}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** The API documentation page writes its own style attributes and elements. */
export const DOCS_CONTENT_SECURITY_POLICY = policy("'self' 'unsafe-inline'");

const ALWAYS = {
  'content-security-policy': policy("'self'"),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  // For browsers that do not know frame-ancestors.
  'x-frame-options': 'DENY',
};

const ALWAYS_SECURE = { ...ALWAYS, 'strict-transport-security': 'max-age=31536000; includeSubDomains' };
const NO_STORE = { 'cache-control': 'no-store' };
const ANSWERED = { plain: { ...ALWAYS, ...NO_STORE }, secure: { ...ALWAYS_SECURE, ...NO_STORE } };

/** The headers of every answer, errors included. */
function securityHeaders(options: { area: Area; secure: boolean }): Record<string, string> {
  const { area, secure } = options;
  if (area === 'api' || area === 'hooks') return secure ? ANSWERED.secure : ANSWERED.plain;
  return secure ? ALWAYS_SECURE : ALWAYS;
}

type AnsweredRequest = Pick<FastifyRequest, 'area' | 'url' | 'method' | 'ip' | 'protocol' | 'server' | 'log'>;

export interface Answer {
  header(name: string, value: string): unknown;
  headers(values: Record<string, string>): unknown;
  removeHeader(name: string): unknown;
  code(status: number): unknown;
  serializer(serialize: (payload: unknown) => string): unknown;
  send(payload: unknown): unknown;
}

export function setSecurityHeaders(request: AnsweredRequest, reply: Pick<Answer, 'headers'>): void {
  reply.headers(securityHeaders({ area: request.area, secure: isSecure(request) }));
}

/** The only place that turns a failure into an answer. */
export function answerError(error: unknown, request: AnsweredRequest, reply: Answer): void {
  const known = toAppError(error);
  if (known.status >= 500) {
    const level = known.code === 'internal' ? 'error' : 'warn';
    request.log[level]({ err: known.cause ?? known, req: request }, 'request failed');
  }
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', String(known.retryAfterSeconds));
  // A file that failed half-way has already set its headers.
  for (const name of ['content-encoding', 'etag', 'last-modified']) reply.removeHeader(name);
  reply.code(known.status);
  reply.header('content-type', 'application/json; charset=utf-8');
  reply.serializer(JSON.stringify);
  reply.send({ ...(request.area === 'hooks' ? { success: false } : {}), ...errorBodyOf(known) });
}

type StatusLine = readonly [status: number, text: string];
// Written out: importing node:http would load an HTTP client, 20 ms of a start.
const BROKEN = new Map<string | undefined, StatusLine>([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
]);
const MALFORMED: StatusLine = [400, 'Bad Request'];

// Bytes that are not an HTTP request reach no hook, so this answer is written by hand.
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Socket,
  { secure }: { secure: boolean },
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const [status, text] = BROKEN.get(error.code) ?? MALFORMED;
  const body = JSON.stringify({ message: text });
  const headers = {
    ...securityHeaders({ area: 'api', secure }),
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${text}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
}
