import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import type { App } from '#server/platform/http/http-app.ts';

export interface RawAnswer {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  /** The parsed body of a JSON response. */
  body: unknown;
}

interface RawRequest {
  method: string;
  /** The request target, sent unchanged: fetch and inject would normalise it. */
  target: string;
  headers?: Record<string, string>;
  /** Sent as JSON. */
  body?: object;
}

export type SendRaw = (options: RawRequest) => Promise<RawAnswer>;

/** Lets the app listen on a port; returns a function that sends unchanged request targets over real connections. */
export async function openRaw(app: App): Promise<SendRaw> {
  const { port } = new URL(await app.listen({ port: 0, host: '127.0.0.1' }));
  return async ({ method, target, headers = {}, body }) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      // With an absolute target, clients send the same host in the Host header.
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
