import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Change, change } from '#contract/events.ts';
import type { DatabaseConnection } from './database/pool.ts';
import type { Logger } from './log.ts';

/** The channel of migration 0001. */
const CHANNEL = 'signal_board_changes';
const CHECK_MS = 10_000;
const CONNECT_LIMIT_MS = 3_000;
/** A connection that was only reset is back with the first tries. */
const TRIES_BEFORE_AWAY = 2;
const RECONNECT_MS = [100, 500, 1_000, 2_000, 5_000] as const;

export interface ChangeListener {
  onChange(change: Change): void;
  /** The connection was lost: what happened meanwhile is not known. Called when it is back. */
  onGap(): void;
  /** The connection was lost and is not to be had again for now: whoever says that news come by themselves stops it. */
  onAway(): void;
}

/** What the database announces, with whichever instance's transaction it happened. */
export interface ChangeFeed {
  /** Resolves when no change from here on can be missed; returns the unsubscription. */
  subscribe(listener: ChangeListener): Promise<() => void>;
  close(): Promise<void>;
}

/** Listens on a connection of its own, only while somebody wants to know. */
export function createChangeFeed(options: { connection: DatabaseConnection; log: Logger }): ChangeFeed {
  const { connection, log } = options;
  const listeners = new Set<ChangeListener>();
  let current: { client: pg.Client; listening: Promise<void> } | null = null;
  let closed = false;

  function announce(payload: string | undefined): void {
    const parsed = change.safeParse(parseJson(payload));
    if (parsed.success) for (const listener of listeners) listener.onChange(parsed.data);
    else log.warn('a change was announced in an unknown form');
  }

  function open(): { client: pg.Client; listening: Promise<void> } {
    const client = new pg.Client({
      ...connection,
      application_name: 'signal-board changes',
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      query_timeout: CONNECT_LIMIT_MS,
      keepAlive: true,
    });
    client.on('notification', ({ payload }) => announce(payload));
    client.on('error', (error) => lost(client, error));
    client.on('end', () => lost(client));
    const listening = (async () => {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
      check(client);
    })();
    return { client, listening };
  }

  /** A connection that a firewall dropped silently is noticed by asking. */
  function check(client: pg.Client): void {
    const timer = setInterval(() => {
      if (current?.client !== client) return clearInterval(timer);
      client.query('select 1').catch((error) => lost(client, error));
    }, CHECK_MS);
    timer.unref();
  }

  function lost(client: pg.Client, error?: unknown): void {
    if (current?.client !== client) return;
    current = null;
    void client.end().catch(() => {});
    if (closed || listeners.size === 0) return;
    log.warn({ err: error }, 'the connection that hears of changes was lost');
    void reopen();
  }

  async function reopen(): Promise<void> {
    for (let attempt = 0; !closed && listeners.size > 0 && current === null; attempt += 1) {
      await sleep(RECONNECT_MS[Math.min(attempt, RECONNECT_MS.length - 1)], undefined, { ref: false });
      if (current !== null) return;
      try {
        await listen();
        for (const listener of listeners) listener.onGap();
      } catch (error) {
        log.debug({ err: error }, 'changes cannot be heard yet');
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

  async function unsubscribe(listener: ChangeListener): Promise<void> {
    listeners.delete(listener);
    if (listeners.size > 0 || current === null) return;
    const { client } = current;
    current = null;
    await client.end().catch(() => {});
  }

  return {
    async subscribe(listener) {
      if (closed) throw new Error('The change feed is closed');
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

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return null;
  }
}
