import { type AddressInfo, connect as connectTo, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerConnection } from '#server/platform/db/embedded.ts';

/** Enough of a transaction's statements to recognise it by; a batch of deliveries can be long. */
const REMEMBERED_CHARACTERS = 400_000;

export interface SeenStatement {
  /** What the client just sent, statement and parameters, as they stand on the wire. */
  text: string;
  /** Everything that its connection has sent since it began its transaction, this included. */
  transaction: string;
}

/**
 * Strikes once, at the first statement that matches. `before`: the statement never reaches the server. `after`: it
 * does, and its answer never comes back. Either way the connection is cut, after `strike` was called.
 */
export interface StatementTrap {
  matches(statement: SeenStatement): boolean;
  at: 'before' | 'after';
  strike(): void;
}

export type ProxyMode = { kind: 'pass' } | { kind: 'delay'; ms: number } | { kind: 'black-hole' };

/** TCP between one instance of the program and its PostgreSQL, where what happens to networks can happen. */
export interface DatabaseProxy {
  port: number;
  setMode(mode: ProxyMode): void;
  /** Nobody listens any more; connections that are there are reset. */
  refuse(): Promise<void>;
  /** Listens again at the same port. */
  accept(): Promise<void>;
  /** Resets the connections that are there. */
  reset(): void;
  /** The connections that are there look open from now on and pass nothing, as when a firewall forgot them. New ones work. */
  forget(): void;
  /** Answers how to take the trap away. */
  setTrap(trap: StatementTrap): () => void;
  /** Messages of the program that have passed so far. */
  messages(): number;
  close(): Promise<void>;
}

interface Link {
  client: Socket;
  server: Socket;
  transaction: string;
  /** The answer to the statement under way is not passed on. */
  sprung: StatementTrap | null;
  isForgotten: boolean;
}

export async function startDatabaseProxy(target: ServerConnection): Promise<DatabaseProxy> {
  const links = new Set<Link>();
  const traps = new Set<StatementTrap>();
  let mode: ProxyMode = { kind: 'pass' };
  let messages = 0;
  let listener: Server | null = null;
  let port = 0;

  function cut(link: Link): void {
    if (!links.delete(link)) return;
    // One that is being shut down cannot be reset: Node would wait for it for ever at its own end.
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
    messages += 1;
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
    if (mode.kind === 'black-hole' || link.isForgotten) return;
    if (mode.kind === 'delay') await sleep(mode.ms);
    if (links.has(link) && !to.destroyed) to.write(chunk);
  }

  function serve(client: Socket): void {
    const server = connectTo(
      target.host.startsWith('/')
        ? { path: join(target.host, `.s.PGSQL.${target.port}`) }
        : { host: target.host, port: target.port },
    );
    const link: Link = { client, server, transaction: '', sprung: null, isForgotten: false };
    links.add(link);
    client.setNoDelay(true);
    inOrder(client, (chunk) => fromClient(link, chunk));
    inOrder(server, (chunk) => fromServer(link, chunk));
    for (const socket of [client, server]) {
      socket.on('error', () => {});
      socket.on('close', () => {
        // In a black hole nobody hears that the other side is gone.
        if ((mode.kind === 'black-hole' || link.isForgotten) && socket === server) return;
        cut(link);
      });
    }
  }

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

  function reset(): void {
    for (const link of [...links]) cut(link);
  }

  async function refuse(): Promise<void> {
    const closing = listener;
    listener = null;
    const closed = closing && new Promise((resolve) => closing.close(resolve));
    reset();
    await closed;
  }

  await accept();
  return {
    port,
    setMode(next) {
      // What was swallowed is gone for good: a connection that missed something cannot be gone on with.
      if (mode.kind === 'black-hole' && next.kind !== 'black-hole') reset();
      mode = next;
    },
    refuse,
    accept,
    reset,
    forget() {
      for (const link of links) link.isForgotten = true;
    },
    setTrap(trap) {
      traps.add(trap);
      return () => traps.delete(trap);
    },
    messages: () => messages,
    close: refuse,
  };
}

/** One chunk after the other, also where passing one on takes time. */
function inOrder(socket: Socket, handle: (chunk: Buffer) => Promise<void>): void {
  let last = Promise.resolve();
  socket.on('data', (chunk: Buffer) => {
    last = last.then(() => handle(chunk));
  });
}
