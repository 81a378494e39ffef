import { fillPlaceholders, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { PgDialect } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import type { Connection, Statements } from './database.ts';
import { runNamed } from './drizzle-over.ts';

/*
 * Statements of the engine that differ only in their values. Building one and putting its text together takes longer
 * than sending it, so that is done once and not for each user of each signal.
 */

/** Of an interface, whose fields may be any. */
export type Values<Fields> = { [Field in keyof Fields]: Fields[Field] };

/** Where a value will stand. */
type ValueOf<Values> = (name: keyof Values & string) => Placeholder;

interface Prepared<Answer> {
  execute(values: Record<string, unknown>): Promise<Answer>;
}

/** Passes a statement on to the connection it is for: Drizzle sends it before `execute` returns. */
class Router {
  #connection: Connection | null = null;

  send<Answer>(connection: Connection, prepared: Prepared<Answer>, values: Record<string, unknown>) {
    this.#connection = connection;
    const answer = prepared.execute(values);
    this.#connection = null;
    return answer;
  }

  query(...statement: unknown[]): unknown {
    if (this.#connection === null) throw new Error('The statement was not sent at once');
    return Reflect.apply(this.#connection.query, this.#connection, statement);
  }
}
const router = new Router();
const templates = drizzle(router as unknown as pg.Client);

/** A query of the query builder. Its statement begins when the function is called, as `together` wants it. */
export function builtOnce<Values extends Record<string, unknown>>() {
  return <Rows>(
    build: (db: Statements, value: ValueOf<Values>) => { prepare(name: string): Prepared<Rows> },
  ): ((db: Pick<Statements, '$client'>, values: Values) => Promise<Rows>) => {
    let prepared: Prepared<Rows> | null = null;
    return (db, values) => {
      prepared ??= build(templates, (name) => sql.placeholder(name)).prepare('');
      return router.send(db.$client, prepared, values);
    };
  };
}

/** The same for a statement that is written as text. */
export function writtenOnce<Values extends Record<string, unknown>>() {
  return <Row extends Record<string, unknown>>(
    write: (value: ValueOf<Values>) => SQL,
  ): ((db: Pick<Statements, '$client'>, values: Values) => Promise<{ rows: Row[] }>) => {
    let written: { sql: string; params: unknown[] } | null = null;
    return (db, values) => {
      written ??= new PgDialect().sqlToQuery(write((name) => sql.placeholder(name)));
      return runNamed<Row>(db, { text: written.sql, values: fillPlaceholders(written.params, values) });
    };
  };
}
