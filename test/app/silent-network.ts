import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { ServerConnection } from '#server/platform/db/embedded.ts';

export type SilentNetwork = Awaited<ReturnType<typeof startSilentNetwork>>;

/** A TCP proxy to PostgreSQL that can go silent like a network: nothing arrives, and neither side notices. */
export async function startSilentNetwork(target: ServerConnection) {
  const sockets = new Set<Socket>();
  let era = 0;
  let isSilent = false;
  let isHolding = false;
  const held = new Map<Socket, { bytes: Buffer[]; isOver: boolean }>();
  const heldFor = (socket: Socket) => {
    const known = held.get(socket) ?? { bytes: [], isOver: false };
    held.set(socket, known);
    return known;
  };
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
      const isHeld = () => isHolding && from === upstream;
      from.on('data', (bytes: Buffer) => {
        if (isHeld()) heldFor(to).bytes.push(bytes);
        else if (passes()) to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        if (isHeld()) heldFor(to).isOver = true;
        else if (passes()) to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    /** Drops everything in both directions. */
    swallow() {
      isSilent = true;
    },
    /** Holds answers back; `heldBytes` returns their size. */
    hold() {
      isHolding = true;
      return {
        heldBytes: () =>
          [...held.values()].flatMap(({ bytes }) => bytes).reduce((sum, one) => sum + one.length, 0),
      };
    },
    /** Delivers the answers held back. */
    letGo() {
      isHolding = false;
      for (const [socket, { bytes, isOver }] of held) {
        socket.write(Buffer.concat(bytes));
        if (isOver) socket.end();
      }
      held.clear();
    },
    /** New connections work again; earlier ones stay dead without either side noticing. */
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
