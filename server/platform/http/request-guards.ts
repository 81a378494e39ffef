import type { FastifyRequest } from 'fastify';
import { MAX_AUTH_BODY_BYTES } from '#contract/auth.ts';
import { readApiToken } from './bearer-token.ts';
import { AppError } from './errors.ts';
import type { App } from './http-app.ts';
import { isForOtherHost } from './public-url.ts';
import { parseStrictJson } from './strict-json.ts';

export const MAX_API_BODY_BYTES = 256 * 1024;

/** Longer than any origin; parsing takes more than linear time. */
const LONGEST_ORIGIN = 300;

const OWN_FETCH_SITES = new Set(['same-origin', 'none']);

/** Refuses requests for another host, cross-site writes, bodies that are not clean JSON and addresses with NUL. */
export function guardRequests(app: App): void {
  // Public routes take only small bodies.
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/api/auth/')) route.bodyLimit ??= MAX_AUTH_BODY_BYTES;
  });
  const publicUrl = app.publicUrl === null ? null : new URL(app.publicUrl);
  app.addHook('onRequest', (request, _reply, done) => {
    if (hasTwoHosts(request.raw)) {
      return done(new AppError('badRequest', { message: 'The request names more than one host' }));
    }
    if (publicUrl !== null && isForOtherHost(request, publicUrl)) {
      const message = `Signal Board answers at ${publicUrl.origin} only (PUBLIC_URL); a proxy in front has to pass on the Host`;
      return done(new AppError('otherHost', { message }));
    }
    // PostgreSQL text cannot hold NUL. Every wrong webhook key gets the same answer.
    if (request.url.includes('%00') && request.area !== 'hooks') return done(new AppError('badRequest'));
    if (isApiWrite(request) && readApiToken(request) === null && isCrossSite(request))
      return done(new AppError('crossSite'));
    // Answers before the body is read.
    if (request.is404 && !isRead(request)) return done(new AppError('notFound'));
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

/** Two Host headers, or a target and a header that differ: a proxy may use one and this program the other. */
function hasTwoHosts({ rawHeaders, url = '', headers }: FastifyRequest['raw']): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) return true;
  if (url.startsWith('/')) return false;
  const [, target] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  return target !== undefined && target.toLowerCase() !== headers.host?.toLowerCase();
}

/** Whether a request may change something for the signed-in user. */
export function isApiWrite(request: FastifyRequest): boolean {
  return request.area === 'api' && !isRead(request);
}

const isRead = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD';

// Browsers send at least one of the two headers with every write; other programs carry no foreign cookies. No browser
// adds an API token by itself.
function isCrossSite(request: FastifyRequest): boolean {
  const { origin } = request.headers;
  const fetchSite = request.headers['sec-fetch-site'];
  const { publicUrl } = request.server;
  if (origin !== undefined && !isOwnOrigin(origin, publicUrl, request)) return true;
  return fetchSite !== undefined && !OWN_FETCH_SITES.has(String(fetchSite));
}

function isOwnOrigin(origin: string, publicUrl: string | null, { host }: FastifyRequest): boolean {
  if (origin.length > LONGEST_ORIGIN || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  return publicUrl === null ? url.host === host.toLowerCase() : url.origin === publicUrl;
}
