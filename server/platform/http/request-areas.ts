import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './http-app.ts';

/** Whose rules a request falls under. What an answer looks like, who may keep it and who may write depend on it. */
export type Area = 'api' | 'hooks' | 'assets' | 'pages';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set before anything else looks at the request. */
    area: Area;
  }
}

/** Areas in which there is more to say about an unknown address than that it is a page. */
const SHAPED = ['/api', '/hooks'];

/**
 * The router's word, not the address: it takes `/%61pi` and `http://anything/api` for `/api` as well, and a second
 * reading of our own would one day differ from its. An address without a route has the handler of the prefix that
 * the router found for it.
 */
export function areaOf(request: FastifyRequest): Area {
  return areaOfPath(request.routeOptions.url ?? request.server.prefix);
}

/** Nothing routes what cannot be decoded: it is answered in the API's shape, but for webhooks, as far as it can be read. */
export function areaOfUnreadable(address: string): Area {
  return areaOfPath(address) === 'hooks' ? 'hooks' : 'api';
}

export function handleNotFound(
  app: App,
  answer: (request: FastifyRequest, reply: FastifyReply) => unknown,
): void {
  app.setNotFoundHandler(answer);
  for (const prefix of SHAPED) {
    app.register(async (scope) => void scope.setNotFoundHandler(answer), { prefix });
  }
}

function areaOfPath(path: string): Area {
  if (isUnder(path, '/hooks')) return 'hooks';
  if (isUnder(path, '/api')) return 'api';
  return isUnder(path, '/assets') ? 'assets' : 'pages';
}

function isUnder(path: string, prefix: string): boolean {
  return path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/');
}
