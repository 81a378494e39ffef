import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ServerConnection } from '#server/platform/database/embedded.ts';

/** TCP to a PostgreSQL that can fall silent as a network does: nothing arrives any more, and nobody is told. */
export interface SilentNetwork {
  host: string;
  port: number;
  /** From here on nothing passes, either way. */
  swallow(): void;
  /** New connections pass again; those of before stay dead, and still nobody is told. */
  heal(): void;
  close(): Promise<void>;
}

export async function startSilentNetwork(target: ServerConnection): Promise<SilentNetwork> {
  const sockets = new Set<Socket>();
  let era = 0;
  let isSilent = false;
  const server = createServer((client) => {
    const born = era;
    const wasSilent = isSilent;
    sockets.add(client);
    client.on('error', () => {});
    if (wasSilent) return;
    const upstream = connect(
      target.host.startsWith('/')
        ? { path: join(target.host, `.s.PGSQL.${target.port}`) }
        : { host: target.host, port: target.port },
    );
    sockets.add(upstream);
    const passes = () => era === born && !isSilent;
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('data', (bytes) => void (passes() && to.write(bytes)));
      from.on('error', () => {});
      from.on('close', () => void (passes() && to.destroy()));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    swallow() {
      isSilent = true;
    },
    heal() {
      era += 1;
      isSilent = false;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
