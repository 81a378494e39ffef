import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestVenue } from './venue.ts';

export interface VenueServer {
  url: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 64 * 1024;

/** Serves a venue over HTTP on the loopback address. */
export async function listenVenue(
  venue: Pick<TestVenue, 'handle'>,
  { port, host = '127.0.0.1' }: { port: number; host?: string },
): Promise<VenueServer> {
  const server = createServer((request, response) => {
    void serve(venue, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

async function serve(
  venue: Pick<TestVenue, 'handle'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = '/', query = ''] = (request.url ?? '/').split(/\?(.*)/s);
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const body = await readBody(request);
  const method = request.method ?? 'GET';
  const address = request.socket.remoteAddress;
  const answer = await venue.handle({ method, path, query, headers, body, address });
  if (answer.delivery === 'never') return;
  if (answer.delivery === 'cut') {
    response.destroy();
    return;
  }
  const missing = answer.delivery === 'truncated' ? 1 : 0;
  const length = Buffer.byteLength(answer.body) + missing;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': length });
  if (answer.delivery === 'stalled') response.write(answer.body.slice(0, 1));
  else if (missing > 0) response.write(answer.body, () => response.destroy());
  else response.end(answer.body);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`The request body exceeds ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
