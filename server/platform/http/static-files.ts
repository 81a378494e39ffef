import { access } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PROJECT_FOLDER } from '../config/project-folder.ts';
import type { App } from './http-app.ts';

export const WEB_FOLDER = join(PROJECT_FOLDER, 'dist', 'web');

const NOT_BUILT = 'The web pages have not been built yet. Start the program with: npm start\n';
const ONE_YEAR_MS = 365 * 24 * 60 * 60 * 1000;
/** Files that the build puts next to index.html: one path element with an extension. */
const TOP_FILE = /^\/[\w-][\w.-]*\.[a-z0-9]{2,11}$/i;

/** Serves the built frontend; every path that names no file gets the single page. */
export async function serveWeb(app: App, options: { folder: string }): Promise<SendPage> {
  const { folder } = options;
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true });

  // The build names these files by their content.
  app.get('/assets/*', { config: { access: 'public' }, schema: { hide: true } }, (request, reply) =>
    reply.sendFile(request.url.split('?', 1)[0] ?? '', { immutable: true, maxAge: ONE_YEAR_MS }),
  );

  return async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const fresh = { cacheControl: false };
    reply.header('cache-control', 'no-cache');
    if (TOP_FILE.test(path) && (await exists(join(folder, path)))) return reply.sendFile(path, fresh);
    if (await exists(join(folder, 'index.html'))) return reply.sendFile('index.html', fresh);
    return reply.code(503).type('text/plain; charset=utf-8').send(NOT_BUILT);
  };
}

type SendPage = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
