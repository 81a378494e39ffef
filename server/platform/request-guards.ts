import type { FastifyRequest } from 'fastify';
import { AppError } from './errors.ts';
import type { App } from './http-app.ts';
import { parseStrictJson } from './strict-json.ts';

export const MAX_API_BODY_BYTES = 256 * 1024;

const OWN_FETCH_SITES = new Set(['same-origin', 'none']);

/** What no route wants: cross-site writes, bodies that are not clean JSON, addresses with NUL. */
export function guardRequests(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    // PostgreSQL has no NUL in text: it would come back as a failed query.
    // A webhook's key is looked up whatever it looks like: every wrong one gets the same answer.
    if (request.url.includes('%00') && request.area !== 'hooks') return done(new AppError('badRequest'));
    if (isApiWrite(request) && isCrossSite(request)) return done(new AppError('crossSite'));
    done();
  });

  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => {
      if (body.length === 0) return undefined;
      const parsed = parseStrictJson(body);
      if (!parsed.ok) throw new AppError('badRequest', { message: parsed.reason });
      return parsed.value;
    },
  );
}

/** What may change something for who is signed in. */
export function isApiWrite({ area, method }: FastifyRequest): boolean {
  return area === 'api' && method !== 'GET' && method !== 'HEAD';
}

// Browsers send at least one of the two headers with every write; programs such as curl send neither, and
// carry no cookies of somebody else.
function isCrossSite(request: FastifyRequest): boolean {
  const { origin } = request.headers;
  const fetchSite = request.headers['sec-fetch-site'];
  if (origin !== undefined && hostOf(origin) !== request.host.toLowerCase()) return true;
  return fetchSite !== undefined && !OWN_FETCH_SITES.has(String(fetchSite));
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}
