import pg from 'pg';
import { createPreparingClient } from '#server/platform/db/clients.ts';
import { drizzleOver } from '#server/platform/db/drizzle-over.ts';
import type { OpenDatabase } from '#server/platform/db/pool.ts';

/** Thrown to a dead process: none of its later calls takes effect. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * The process dies at the n-th statement or request, or at the first one after the n-th change. The second form tries
 * every state once, because dying between two reads leaves the same state as dying before both.
 */
export type CrashAt = number | { afterChanges: number };

export type CrashPoint = ReturnType<typeof crashPoint>;

/**
 * Counts statements to the database and requests to the exchange. From the n-th on nothing gets through, as after
 * kill -9 between two of them.
 */
export function crashPoint(at: CrashAt) {
  let count = 0;
  let changed = 0;
  let dead = false;
  const isAt = () => (typeof at === 'number' ? count >= at : changed >= at.afterChanges);
  const { promise: death, resolve: die } = Promise.withResolvers<void>();
  return {
    /** Resolves when the process dies. */
    death,
    /** Counts one statement or request; throws when the process is dead. `changes`: it changes database or exchange. */
    pass(changes: boolean): void {
      count += 1;
      if (isAt()) dead = true;
      if (dead) {
        die();
        throw new Crash();
      }
      if (changes) changed += 1;
    },
    count: () => count,
    /** The number of them that changed the database or the exchange. */
    changes: () => changed,
    isDead: () => dead,
  };
}

/** Whether a transaction is open after the statement, and whether the statement makes a change visible to others. */
function effectOf(text: string, isInTransaction: boolean): { opens: boolean; changes: boolean } {
  if (/^\s*(begin|start transaction)\b/i.test(text)) return { opens: true, changes: false };
  if (/^\s*(commit|end)\b/i.test(text)) return { opens: false, changes: true };
  if (/^\s*rollback\s*;?\s*$/i.test(text)) return { opens: false, changes: false };
  // Only a select of columns is a read: a function call may write, so it counts as a change.
  const reads = /^\s*select (distinct )?"/i.test(text);
  return { opens: isInTransaction, changes: !isInTransaction && !reads };
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const text =
    typeof statement === 'object' && statement !== null ? Reflect.get(statement, 'text') : undefined;
  return typeof text === 'string' ? text : '';
}

/** A pool whose statements pass the crash point first; open transactions roll back when the process dies. */
export function openCrashingDatabase(database: OpenDatabase, point: CrashPoint) {
  const connections = new Set<pg.ClientBase>();
  class CrashingClient extends createPreparingClient('engine') {
    #isInTransaction = false;

    // The driver passes a callback, other callers do not.
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
     * Closes all connections and so ends open transactions, as the kernel would. Does not wait for the pool, because
     * code of the dead process may still hold a connection.
     */
    async kill() {
      for (const client of connections) {
        const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
        stream.destroy();
      }
      // A pool that ends forgets who still waits for a connection, and the next process may wait for that code.
      const { _pendingQueue: waiting } = pool as unknown as { _pendingQueue: { callback(e: Error): void }[] };
      for (const { callback } of waiting.splice(0)) callback(new Crash());
      void pool.end();
    },
  };
}
