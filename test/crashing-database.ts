import pg from 'pg';
import { drizzleOver } from '#server/platform/database/drizzle-over.ts';
import type { OpenDatabase } from '#server/platform/database/pool.ts';

/** The process is gone: nothing that it would still have done happens. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/**
 * Counts what a process does to the outside: statements to the database and requests to the exchange. From the n-th
 * on nothing gets through any more, as after a kill -9 between any two of them.
 */
export interface CrashPoint {
  /** Throws when the process is dead. */
  pass(): void;
  count(): number;
  isDead(): boolean;
  /** Resolves when the process dies. */
  death: Promise<void>;
}

export function crashPoint(at: number): CrashPoint {
  let count = 0;
  let dead = false;
  const { promise: death, resolve: die } = Promise.withResolvers<void>();
  return {
    death,
    pass() {
      count += 1;
      if (count >= at) dead = true;
      if (!dead) return;
      die();
      throw new Crash();
    },
    count: () => count,
    isDead: () => dead,
  };
}

/** A pool whose every statement passes the crash point first; a dead one's transactions roll back with it. */
export function openCrashingDatabase(database: OpenDatabase, point: CrashPoint) {
  const connections = new Set<pg.ClientBase>();
  class CrashingClient extends pg.Client {
    // The driver calls it with a callback, its users without: a dead process answers each in its way.
    override query(...parameters: unknown[]): never {
      try {
        point.pass();
      } catch (error) {
        const callback = parameters.at(-1);
        if (typeof callback !== 'function') return Promise.reject(error) as never;
        process.nextTick(callback, error);
        return undefined as never;
      }
      return Reflect.apply(super.query, this, parameters) as never;
    }
  }
  const pool = new pg.Pool({ ...database.connection, max: 6, Client: CrashingClient } as pg.PoolConfig);
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
