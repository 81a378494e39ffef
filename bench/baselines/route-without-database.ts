import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import type { DeliveryOutcome } from '#server/ingest/deliveries.store.ts';
import { systemClock } from '#server/platform/clock.ts';
import { parseConfig } from '#server/platform/config/config.ts';
import type { Db } from '#server/platform/db/database.ts';
import { openPool } from '#server/platform/db/pool.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { createLog } from '#server/platform/log.ts';
import { buildProgram } from '#server/program.ts';

/**
 * The program as program.ts wires it, its routes, guards and group commit included, with one thing replaced: the
 * transaction that would store a batch. DATABASE_URL names an empty database, which the idle job queue wants to be
 * opened on; no request reaches it. The engine is not started.
 */
const config = parseConfig({
  APP_ENV: 'production',
  // In paper mode a new price would be looked up in the database.
  EXCHANGE_MODE: 'demo',
  AUTO_TRADE: 'disabled',
  DATA_DIR: tmpdir(),
  DATABASE_URL: process.env.DATABASE_URL,
  SECRET_KEY: 'the secret of a benchmark, long enough',
  WEBHOOK_RATE_LIMIT: '0',
});
const log = createLog({ level: 'silent' });
const empty = openPool({ connection: { connectionString: config.databaseUrl ?? '' }, log });

/** However many there were: each is answered as stored under an id of its own. */
const stored = new Proxy<DeliveryOutcome[]>([], {
  get: (none, name) =>
    Number.isInteger(Number(name))
      ? { outcome: 'stored', id: timeOrderedId(), duplicate: false, token: 'BTC' }
      : Reflect.get(none, name),
});
const db = new Proxy(empty.db, {
  get: (target, name) => (name === 'transaction' ? async () => stored : Reflect.get(target, name)),
}) satisfies Db;

const { app } = await buildProgram({ config, log, clock: systemClock, database: { ...empty, db } });
await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`);
