import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isSecure } from './access-cookie.ts';
import { errorBodyOf, toAppError } from './errors.ts';
import { securityHeaders } from './security-headers.ts';

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

/** The one place where a failure becomes an answer. */
export function answerError(error: unknown, request: AnsweredRequest, reply: Answer): void {
  const known = toAppError(error);
  if (known.status >= 500) {
    const level = known.code === 'internal' ? 'error' : 'warn';
    request.log[level]({ err: known.cause ?? known, req: request }, 'request failed');
  }
  if (known.retryAfterSeconds !== undefined) reply.header('retry-after', String(known.retryAfterSeconds));
  // A file that failed half-way had already set the headers of the file.
  for (const name of ['content-encoding', 'etag', 'last-modified']) reply.removeHeader(name);
  reply.code(known.status);
  reply.header('content-type', 'application/json; charset=utf-8');
  reply.serializer(JSON.stringify);
  reply.send({ ...(request.area === 'hooks' ? { success: false } : {}), ...errorBodyOf(known) });
}

type StatusLine = readonly [status: number, text: string];
// Written out: whatever imports a name of node:http makes Node load a whole HTTP client, some 20 ms of a start.
const BROKEN = new Map<string | undefined, StatusLine>([
  ['HPE_HEADER_OVERFLOW', [431, 'Request Header Fields Too Large']],
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'Request Timeout']],
]);
const MALFORMED: StatusLine = [400, 'Bad Request'];

// Bytes that are no HTTP request never become one for the hooks, so this answer is written by hand.
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
