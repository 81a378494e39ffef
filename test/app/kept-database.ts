import { randomBytes } from 'node:crypto';
import { symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { ServerConnection } from '#server/platform/db/embedded.ts';
import { KeptConnections } from './kept-connections.ts';

/** Then a new one follows: deleted rows keep their space, through which every scan reads. */
const MOST_DELETED_ROWS = 20_000;

/** PostgreSQL's own objects have smaller ids. */
const FIRST_ID = 16_384;
/** The rows that describe a schema: where they are, their id, and the columns that only a change of the schema changes. */
const CATALOGUES = [
  ['pg_class', 'oid', 'oid, relname, relnamespace, relkind, relnatts, relchecks, reloptions, relacl'],
  ['pg_attribute', 'attrelid', 'attrelid, attnum, attname, atttypid, atttypmod, attnotnull, attidentity'],
  ['pg_attrdef', 'oid', 'known.*'],
  ['pg_constraint', 'oid', 'known.*'],
  ['pg_index', 'indexrelid', 'known.*'],
  ['pg_rewrite', 'oid', 'known.*'],
  ['pg_trigger', 'oid', 'known.*'],
  ['pg_type', 'oid', 'oid, typname, typnotnull, typdefault'],
  // Tests set the time by a function and set it back.
  ["(select * from pg_proc where proname <> 'database_time')", 'oid', 'known.*'],
] as const;
const SCHEMA = `concat_ws(' ', ${CATALOGUES.map(
  ([rows, id, columns]) =>
    `(select sum(hashtextextended(row(${columns})::text, 0)) from ${rows} as known where ${id} >= ${FIRST_ID})`,
).join(', ')})`;

/** What a database is emptied to. */
interface Template {
  schema: string;
  /** Statements that insert the rows of the template and set its sequences. */
  refill: string[];
}

/**
 * A copy of the template that one test after the other uses: emptied in between, because a new one would start with
 * new connections.
 */
export class KeptDatabase {
  readonly #connection: ServerConnection;
  readonly #connections = new KeptConnections();
  readonly #server: ServerConnection;
  readonly #cleaner: pg.Pool;
  #deletedRows = 0;
  /** An address of its own for each test: what an earlier one left running connects no more. */
  #address = '';

  private constructor(server: ServerConnection, connection: ServerConnection) {
    this.#server = server;
    this.#connection = connection;
    this.#cleaner = openKept(connection);
  }

  static async create(server: ServerConnection): Promise<KeptDatabase> {
    return new KeptDatabase(server, await copyDatabase(server));
  }

  /** For one test, until `empty`. */
  async lend() {
    this.#address = join(this.#server.host, randomBytes(4).toString('hex'));
    await symlink('.', this.#address);
    return {
      connection: { ...this.#connection, host: this.#address },
      classFor: this.#connections.lend(),
    };
  }

  /** Keeps the connections of the pools that end meanwhile; false if a test left anything else than rows. */
  async empty(endPools: () => Promise<void>): Promise<boolean> {
    const areSound = await this.#connections.keepWhile(endPools);
    await unlink(this.#address);
    return areSound && (await this.#emptyTables().catch(() => false));
  }

  async drop(): Promise<void> {
    await this.#cleaner.end();
    await dropDatabase(this.#server, this.#connection);
  }

  async #emptyTables(): Promise<boolean> {
    return (await this.#isUnchanged()) && (await this.#deleteRows());
  }

  async #isUnchanged(): Promise<boolean> {
    const { schema } = await readTemplate(this.#server);
    const { rows } = await this.#cleaner.query<{ schema: string; others: number }>(
      `select ${SCHEMA} as schema, count(*)::int as others from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend'
         and pid <> pg_backend_pid() and pid <> all ($1)`,
      [this.#connections.processIds],
    );
    return rows[0]?.schema === schema && rows[0].others === 0;
  }

  async #deleteRows(): Promise<boolean> {
    const { refill } = await readTemplate(this.#server);
    // Those that ever had a row.
    const { rows: tables } = await this.#cleaner.query<{ name: string }>(
      `select ${TABLE_NAME} as name from ${TABLES} where relkind = 'r' and pg_relation_size(pg_class.oid) > 0`,
    );
    // Without triggers: neither foreign keys nor the rules of the audit trail are to hold.
    const begin = ['begin', 'set local session_replication_role = replica'];
    const deletes = tables.map(({ name }) => `delete from ${name}`);
    const answers: unknown = await this.#cleaner.query(
      [...begin, ...deletes, ...refill, 'commit'].join('; '),
    );
    for (const { command, rowCount } of answers as pg.QueryResult[]) {
      if (command === 'DELETE') this.#deletedRows += rowCount ?? 0;
    }
    return this.#deletedRows <= MOST_DELETED_ROWS;
  }
}

const TABLE_NAME = "format('%I.%I', nspname, relname)";
const TABLES = `(pg_class join pg_namespace on pg_namespace.oid = relnamespace and nspname !~ '^(pg_|information_schema)')`;

const templates = new Map<string, Promise<Template>>();

/** Read once for each server, by its socket folder. */
function readTemplate(server: ServerConnection): Promise<Template> {
  const known = templates.get(server.host) ?? readFrom(server);
  templates.set(server.host, known);
  return known;
}

async function readFrom(server: ServerConnection): Promise<Template> {
  // A copy, because no copies can be made while somebody is connected to the template.
  const copy = await copyDatabase(server);
  const client = openKept(copy);
  const { rows: schemas } = await client.query<{ schema: string }>(`select ${SCHEMA} as schema`);
  const { rows: tables } = await client.query<{ name: string }>(
    `select ${TABLE_NAME} as name from ${TABLES} where relkind = 'r'`,
  );
  const refill: string[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ list: string | null }>(
      `select json_agg(row)::text as list from ${name} as row`,
    );
    const list = rows[0]?.list ?? null;
    if (list === null) continue;
    const from = `json_populate_recordset(null::${name}, ${pg.escapeLiteral(list)})`;
    refill.push(`insert into ${name} overriding system value select * from ${from}`);
  }
  const { rows: sequences } = await client.query<{ text: string }>(
    `select format('select setval(''%I.%I'', %s, %s)', schemaname, sequencename,
       coalesce(last_value, start_value), (last_value is not null)::text) as text from pg_sequences`,
  );
  await client.end();
  await dropDatabase(server, copy);
  refill.push(...sequences.map(({ text }) => text));
  return { schema: schemas[0]?.schema ?? '', refill };
}

export async function copyDatabase(server: ServerConnection): Promise<ServerConnection> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  // Faster than copying through the WAL, because this server never syncs to disk.
  await onServer(
    server,
    `create database ${name} template ${server.database} strategy file_copy`,
    // A job queue on a test clock has every session ask that clock.
    `alter database ${name} set pgboss.test_clock = 'on'`,
  );
  return { ...server, database: name };
}

export const dropDatabase = (server: ServerConnection, { database }: ServerConnection): Promise<void> =>
  onServer(server, `drop database ${database} with (force)`);

/** One for each server, by its socket folder: to connect costs the server as much as to copy. */
const administrators = new Map<string, pg.Pool>();

async function onServer(server: ServerConnection, ...statements: string[]): Promise<void> {
  const pool = administrators.get(server.host) ?? openKept({ ...server, database: 'postgres' });
  administrators.set(server.host, pool);
  for (const statement of statements) await pool.query(statement);
}

/** A single connection that stays open, and does not keep a program from ending. */
function openKept(connection: ServerConnection): pg.Pool {
  const pool = new pg.Pool({ ...connection, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  // At the end of a run the server is gone before its workers.
  pool.on('error', () => {});
  return pool;
}
