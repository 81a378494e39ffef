import type { FastifyReply, FastifyRequest } from 'fastify';
import { SESSION_LIFETIME_MS } from './access-sessions.ts';

// `__Host-` binds the cookie to this host over HTTPS; browsers refuse the prefix over plain http, which a
// local machine may use.
const SECURE_NAME = '__Host-sid';
const PLAIN_NAME = 'sid';

/** Whether the browser speaks HTTPS: as `PUBLIC_URL` says, or else the request. */
export function isSecure(request: Pick<FastifyRequest, 'protocol' | 'server'>): boolean {
  return request.server.publicUrl?.startsWith('https:') ?? request.protocol === 'https';
}

export function readSessionToken(request: FastifyRequest): string | null {
  return request.cookies[cookieName(request)] ?? null;
}

export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, token: string): void {
  reply.setCookie(cookieName(request), token, {
    ...cookieOptions(request),
    maxAge: SESSION_LIFETIME_MS / 1000,
  });
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  reply.clearCookie(cookieName(request), cookieOptions(request));
}

function cookieName(request: FastifyRequest): string {
  return isSecure(request) ? SECURE_NAME : PLAIN_NAME;
}

function cookieOptions(request: FastifyRequest) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(request) } as const;
}
