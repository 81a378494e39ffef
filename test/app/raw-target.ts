import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { App } from '#server/platform/http/http-app.ts';

export interface RawAnswer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  /** Of an answer in JSON. */
  body: unknown;
}

interface RawRequest {
  method: string;
  /** The target in the first line, unchanged: fetch and inject would normalise it. */
  target: string;
  headers?: Record<string, string>;
  /** JSON. */
  body?: object;
}

export type SendRaw = (options: RawRequest) => Promise<RawAnswer>;

/** Opens a port of the app and sends to it over real connections, with unchanged targets. */
export async function openRaw(app: App): Promise<SendRaw> {
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  return async ({ method, target, headers = {}, body }) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      // A client that names a host in the target names the same one in its header.
      const [, host] = /^https?:\/\/([^/?#]*)/i.exec(target) ?? [];
      const all = { ...type, ...(host === undefined ? {} : { host }), ...headers };
      const options = { port, host: '127.0.0.1', method, path: target, headers: all };
      request(options, resolve)
        .on('error', reject)
        .end(body === undefined ? '' : JSON.stringify(body));
    });
    const isJson = answer.headers['content-type']?.startsWith('application/json') ?? false;
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson ? await json(answer) : answer.resume() && null,
    };
  };
}
