import pg from 'pg';
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { DatabaseConnection } from './pool.ts';

const CHECK_MS = 10_000;
const CONNECT_LIMIT_MS = 3_000;
/** A connection that was only reset is back after this many tries. */
const TRIES_BEFORE_AWAY = 2;
const RECONNECT_MS = [100, 500, 1_000, 2_000, 5_000] as const;

export interface NotificationListener<Message> {
  onMessage(message: Message): void;
  /** The connection was lost and is back: messages may have been missed. */
  onGap(): void;
  /** The connection was lost and cannot be restored for now. */
  onAway(): void;
}

/** The messages of one channel of the database, from all instances. */
export interface NotificationFeed<Message> {
  /** Resolves when listening has begun; returns a function that unsubscribes. */
  subscribe(listener: NotificationListener<Message>): Promise<() => void>;
  close(): Promise<void>;
}

/** Listens on a separate connection while there are listeners. */
export function createNotificationFeed<Message>(options: {
  connection: DatabaseConnection;
  clock: Clock;
  channel: string;
  /** The subject in the plural, for the log and the name of the connection. */
  what: string;
  /** Returns null for a payload of unknown form. */
  read: (payload: string) => Message | null;
  log: Logger;
}): NotificationFeed<Message> {
  const { connection, clock, channel, what, read, log } = options;
  const listeners = new Set<NotificationListener<Message>>();
  let current: { client: pg.Client; listening: Promise<void> } | null = null;
  let closed = false;

  function announce(payload: string): void {
    const message = read(payload);
    if (message === null) log.warn(`${what} were announced in an unknown form`);
    else for (const listener of listeners) listener.onMessage(message);
  }

  function open(): { client: pg.Client; listening: Promise<void> } {
    const client = new pg.Client({
      ...connection,
      application_name: `signal-board ${what}`,
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      query_timeout: CONNECT_LIMIT_MS,
      keepAlive: true,
    });
    client.on('notification', ({ payload }) => announce(payload ?? ''));
    client.on('error', (error) => lost(client, error));
    client.on('end', () => lost(client));
    const listening = (async () => {
      await client.connect();
      await client.query(`listen ${channel}`);
      check(client);
    })();
    return { client, listening };
  }

  /** Detects a connection that a firewall dropped silently. */
  function check(client: pg.Client): void {
    const stop = clock.every(CHECK_MS, () => {
      if (current?.client !== client) return stop();
      client.query('select 1').catch((error) => lost(client, error));
    });
  }

  function lost(client: pg.Client, error?: unknown): void {
    if (current?.client !== client) return;
    current = null;
    void client.end().catch(() => {});
    if (closed || listeners.size === 0) return;
    log.warn({ err: error }, `lost the connection that listens for ${what}`);
    void reopen();
  }

  async function reopen(): Promise<void> {
    for (let attempt = 0; !closed && listeners.size > 0 && current === null; attempt += 1) {
      await clock.sleep(RECONNECT_MS[Math.min(attempt, RECONNECT_MS.length - 1)] ?? 0);
      if (current !== null) return;
      try {
        await listen();
        for (const listener of listeners) listener.onGap();
      } catch (error) {
        log.debug({ err: error }, `cannot listen for ${what} yet`);
        if (attempt + 1 === TRIES_BEFORE_AWAY) for (const listener of [...listeners]) listener.onAway();
      }
    }
  }

  async function listen(): Promise<void> {
    current ??= open();
    const mine = current;
    try {
      await mine.listening;
    } catch (error) {
      if (current === mine) current = null;
      void mine.client.end().catch(() => {});
      throw error;
    }
  }

  async function unsubscribe(listener: NotificationListener<Message>): Promise<void> {
    listeners.delete(listener);
    if (listeners.size > 0 || current === null) return;
    const { client } = current;
    current = null;
    await client.end().catch(() => {});
  }

  return {
    async subscribe(listener) {
      if (closed) throw new Error('The feed is closed');
      listeners.add(listener);
      try {
        await listen();
      } catch (error) {
        listeners.delete(listener);
        throw error;
      }
      return () => void unsubscribe(listener);
    },
    async close() {
      closed = true;
      listeners.clear();
      const client = current?.client;
      current = null;
      await client?.end().catch(() => {});
    },
  };
}
