import pg from 'pg';
import { createPreparingClient } from '#server/platform/db/clients.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import type { OpenDatabase } from '#server/platform/db/pool.ts';

/** The process is gone: nothing that it would still have done happens. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * Counts what a process does to the outside: statements to the database and requests to the exchange. From the n-th
 * on nothing gets through any more, as after a kill -9 between any two of them.
 */
export interface CrashPoint {
  /** Throws when the process is dead. `changes`: whether this thing leaves the outside another than it was. */
  pass(changes: boolean): void;
  count(): number;
  /** How many of the things that were done have changed the outside. */
  changes(): number;
  isDead(): boolean;
  /** Resolves when the process dies. */
  death: Promise<void>;
}

/**
 * When it dies: at the n-th thing that it does, or at the first one after the n-th that has changed the outside. A
 * process that dies between two reads leaves behind what it would have left before both: the second form tries every
 * state of the outside once.
 */
export type CrashAt = number | { afterChanges: number };

export function crashPoint(at: CrashAt): CrashPoint {
  let count = 0;
  let changed = 0;
  let dead = false;
  const isAt = () => (typeof at === 'number' ? count >= at : changed >= at.afterChanges);
  const { promise: death, resolve: die } = Promise.withResolvers<void>();
  return {
    death,
    pass(changes) {
      count += 1;
      if (isAt()) dead = true;
      if (dead) {
        die();
        throw new Crash();
      }
      if (changes) changed += 1;
    },
    count: () => count,
    changes: () => changed,
    isDead: () => dead,
  };
}

/** What a statement does to a connection, and whether others can see a difference afterwards. */
function effectOf(text: string, isInTransaction: boolean): { opens: boolean; changes: boolean } {
  if (/^\s*(begin|start transaction)\b/i.test(text)) return { opens: true, changes: false };
  if (/^\s*(commit|end)\b/i.test(text)) return { opens: false, changes: true };
  if (/^\s*rollback\s*;?\s*$/i.test(text)) return { opens: false, changes: false };
  // Reads of columns; a call of a function, which may write, counts as a change.
  const reads = /^\s*select (distinct )?"/i.test(text);
  return { opens: isInTransaction, changes: !isInTransaction && !reads };
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const text =
    typeof statement === 'object' && statement !== null ? Reflect.get(statement, 'text') : undefined;
  return typeof text === 'string' ? text : '';
}

/** A pool whose every statement passes the crash point first; a dead one's transactions roll back with it. */
export function openCrashingDatabase(database: OpenDatabase, point: CrashPoint) {
  const connections = new Set<pg.ClientBase>();
  class CrashingClient extends createPreparingClient('engine') {
    #isInTransaction = false;

    // The driver calls it with a callback, its users without: a dead process answers each in its way.
    override query(...parameters: unknown[]): never {
      const { opens, changes } = effectOf(textOf(parameters[0]), this.#isInTransaction);
      this.#isInTransaction = opens;
      try {
        point.pass(changes);
      } catch (error) {
        const callback = parameters.at(-1);
        if (typeof callback !== 'function') return Promise.reject(error) as never;
        process.nextTick(callback, error);
        return undefined as never;
      }
      return Reflect.apply(super.query, this, parameters) as never;
    }
  }
  const pool = new pg.Pool({
    ...database.connection,
    pipeline: true,
    max: 6,
    Client: CrashingClient,
  } as pg.PoolConfig);
  pool.on('connect', (client) => {
    client.on('error', () => {});
    connections.add(client);
  });
  pool.on('error', () => {});
  return {
    db: drizzleOver(pool),
    pool,
    /**
     * What the kernel does for a killed process: all connections end, open transactions with them. The pool's own
     * end is not waited for: the dead process's code may still sleep with a connection in hand.
     */
    async kill() {
      for (const client of connections) {
        const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
        stream.destroy();
      }
      void pool.end();
    },
  };
}
