import { type AddressInfo, connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConnection } from '#server/platform/db/embedded.ts';

/** Enough of a transaction's statements to recognise it; a batch of deliveries can be long. */
const REMEMBERED_CHARACTERS = 400_000;

export interface SeenStatement {
  /** The bytes that the client just sent: statement and parameters. */
  text: string;
  /** Everything that the connection has sent in its current transaction, including this statement. */
  transaction: string;
}

/**
 * Strikes once, at the first matching statement. `before`: the statement never reaches the server. `after`: its answer
 * is lost. Both cut the connection after `strike`.
 */
export interface StatementTrap {
  matches(statement: SeenStatement): boolean;
  at: 'before' | 'after';
  strike(): void;
}

/**
 * `black-hole`: nothing arrives, and neither side notices. `hold`: the server's answers wait for the next mode.
 */
type ProxyMode = { kind: 'pass' } | { kind: 'delay'; ms: number } | { kind: 'black-hole' } | { kind: 'hold' };

export type DatabaseProxy = Awaited<ReturnType<typeof startDatabaseProxy>>;

interface Link {
  client: Socket;
  server: Socket;
  transaction: string;
  /** Set while the answer to the current statement is withheld. */
  sprung: StatementTrap | null;
  isForgotten: boolean;
  lost: number;
  /** Answers that wait, and whether the server has closed the connection after them. */
  held: Buffer[];
  isOver: boolean;
}

/** A TCP proxy between an instance of the program and its PostgreSQL that simulates network faults. */
export async function startDatabaseProxy(target: ServerConnection) {
  const links = new Set<Link>();
  const traps = new Set<StatementTrap>();
  let mode: ProxyMode = { kind: 'pass' };
  let listener: Server | null = null;
  let port = 0;

  function cut(link: Link): void {
    if (!links.delete(link)) return;
    // A socket that is shutting down cannot be reset: Node would wait for it forever.
    if (link.client.writableEnded) link.client.destroy();
    else link.client.resetAndDestroy();
    link.server.destroy();
  }

  function springTrap(link: Link, chunk: Buffer): StatementTrap | null {
    if (traps.size === 0) {
      link.transaction = '';
      return null;
    }
    const text = chunk.toString('latin1');
    const transaction = (link.transaction + text).slice(-REMEMBERED_CHARACTERS);
    link.transaction = /^Q[\s\S]{4}(commit|rollback)/i.test(text) ? '' : transaction;
    const found = [...traps].find((trap) => trap.matches({ text, transaction })) ?? null;
    if (found !== null) traps.delete(found);
    return found;
  }

  async function fromClient(link: Link, chunk: Buffer): Promise<void> {
    const trap = springTrap(link, chunk);
    if (trap?.at === 'before') {
      trap.strike();
      cut(link);
      return;
    }
    if (trap) link.sprung = trap;
    await pass(link, link.server, chunk);
  }

  async function fromServer(link: Link, chunk: Buffer): Promise<void> {
    if (link.sprung) {
      link.sprung.strike();
      cut(link);
      return;
    }
    await pass(link, link.client, chunk);
  }

  async function pass(link: Link, to: Socket, chunk: Buffer): Promise<void> {
    if (mode.kind === 'black-hole' || link.isForgotten) {
      link.lost += chunk.length;
      return;
    }
    if (mode.kind === 'hold' && to === link.client) {
      link.held.push(chunk);
      return;
    }
    if (mode.kind === 'delay') await sleep(mode.ms);
    if (links.has(link) && !to.destroyed) to.write(chunk);
  }

  function serve(client: Socket): void {
    const server = connectTo(
      target.host.startsWith('/')
        ? { path: join(target.host, `.s.PGSQL.${target.port}`) }
        : { host: target.host, port: target.port },
    );
    const link: Link = {
      client,
      server,
      transaction: '',
      sprung: null,
      isForgotten: false,
      lost: 0,
      held: [],
      isOver: false,
    };
    links.add(link);
    client.setNoDelay(true);
    inOrder(client, (chunk) => fromClient(link, chunk));
    inOrder(server, (chunk) => fromServer(link, chunk));
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        // In a black hole neither side notices that the other has closed.
        if ((mode.kind === 'black-hole' || link.isForgotten) && socket === server) return;
        if (mode.kind === 'hold' && socket === server) link.isOver = true;
        else cut(link);
      });
    }
  }

  /** Listens again on the same port. */
  async function accept(): Promise<void> {
    if (listener) return;
    const opened = createServer(serve);
    await new Promise<void>((resolve, reject) => {
      opened.once('error', reject);
      opened.listen(port, '127.0.0.1', resolve);
    });
    port = (opened.address() as AddressInfo).port;
    listener = opened;
  }

  /** Resets open connections. */
  function reset(): void {
    for (const link of [...links]) cut(link);
  }

  /** Stops listening and resets open connections. */
  async function refuse(): Promise<void> {
    const closing = listener;
    listener = null;
    const closed = closing && new Promise((resolve) => closing.close(resolve));
    reset();
    await closed;
  }

  function deliverHeld({ client, held, isOver }: Link): void {
    client.write(Buffer.concat(held.splice(0)));
    if (isOver) client.end();
  }

  /** Open connections stay open but pass nothing, as when a firewall has forgotten them. New ones work. */
  function forget(): void {
    for (const link of links) link.isForgotten = true;
  }

  await accept();
  return {
    port,
    setMode(next: ProxyMode) {
      // A connection that lost data cannot be used again.
      if (mode.kind === 'black-hole') forget();
      if (mode.kind === 'hold') for (const link of links) deliverHeld(link);
      mode = next;
    },
    /** What the open connections have lost in a black hole, or since they were forgotten. */
    lostBytes: () => [...links].reduce((sum, { lost }) => sum + lost, 0),
    heldBytes: () => [...links].flatMap(({ held }) => held).reduce((sum, one) => sum + one.length, 0),
    refuse,
    accept,
    reset,
    forget,
    /** Returns a function that removes the trap. */
    setTrap(trap: StatementTrap): () => void {
      traps.add(trap);
      return () => void traps.delete(trap);
    },
    clearTraps: () => traps.clear(),
    close: refuse,
  };
}

/** Handles chunks sequentially, even when handling is asynchronous. */
function inOrder(socket: Socket, handle: (chunk: Buffer) => Promise<void>): void {
  let last = Promise.resolve();
  socket.on('data', (chunk: Buffer) => {
    last = last.then(() => handle(chunk));
  });
}
