import type { FastifyRequest } from 'fastify';
import { TOKEN_PREFIX } from '#contract/tokens.ts';

/** The credentials of an `Authorization: Bearer` header, or null. */
export function readBearer({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** The API token of a request; other bearer tokens, as some proxies add, do not concern this program. */
export function readApiToken(request: Pick<FastifyRequest, 'headers'>): string | null {
  const bearer = readBearer(request);
  return bearer?.startsWith(TOKEN_PREFIX) ? bearer : null;
}
