import { fillPlaceholders, type Placeholder, type SQL, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { PgDialect } from 'drizzle-orm/pg-core';
import type pg from 'pg';
import type { Connection, Statements } from './database.ts';
import { runNamed } from './drizzle-over.ts';

/*
 * Statements of the engine that differ only in their values. Building a statement and its text takes longer than
 * sending it, so each is built once instead of for each user of each signal.
 */

/** Makes the fields of an interface assignable to `Record<string, unknown>`. */
export type Values<Fields> = { [Field in keyof Fields]: Fields[Field] };

/** The placeholder of a value. */
type ValueOf<Values> = (name: keyof Values & string) => Placeholder;

interface Prepared<Answer> {
  execute(values: Record<string, unknown>): Promise<Answer>;
}

/** Routes a statement to its connection: Drizzle sends it before `execute` returns. */
class Router {
  #connection: Connection | null = null;

  send<Answer>(connection: Connection, prepared: Prepared<Answer>, values: Record<string, unknown>) {
    this.#connection = connection;
    const answer = prepared.execute(values);
    this.#connection = null;
    return answer;
  }

  query(...statement: unknown[]): unknown {
    if (this.#connection === null) throw new Error('The statement was not sent synchronously');
    return Reflect.apply(this.#connection.query, this.#connection, statement);
  }
}
const router = new Router();
const templates = drizzle(router as unknown as pg.Client);

/** Builds a query once. The returned function sends it when called, as `together` requires. */
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
