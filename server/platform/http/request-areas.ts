import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './http-app.ts';

/** Decides the shape of an answer, who may cache it and who may write. */
export type Area = 'api' | 'hooks' | 'assets' | 'pages';

declare module 'fastify' {
  interface FastifyRequest {
    area: Area;
  }
}

/** Areas whose unknown addresses are not pages. */
const SHAPED = ['/api', '/hooks'];

/** Follows the router instead of the address: it also takes `/%61pi` and `http://anything/api` for `/api`. */
export function areaOf(request: FastifyRequest): Area {
  return areaOfPath(request.routeOptions.url ?? request.server.prefix);
}

/** For addresses that cannot be decoded, which reach no route. */
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
