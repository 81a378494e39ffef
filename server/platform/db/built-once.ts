import { type Placeholder, type SQL, sql } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import type { Statements } from './database.ts';

/*
 * Statements of the engine that are always the same but for their values. To build one of them, object by object, and
 * to put its text together takes the program longer than to send it; so that is done once, and not for each user of each
 * signal.
 */

/** Of an interface, whose fields may be any. */
export type Values<Fields> = { [Field in keyof Fields]: Fields[Field] };

/** Where a value will stand. */
type ValueOf<Values> = (name: keyof Values & string) => Placeholder;

interface Prepared<Answer> {
  execute(values: Record<string, unknown>): Promise<Answer>;
}

/** What this needs of Drizzle's session, whose types keep it to themselves. */
interface Session {
  client: unknown;
  prepareQuery(
    query: { sql: string; params: unknown[] },
    fields: undefined,
    name: undefined,
    isArrayMode: false,
  ): Prepared<never>;
}

const sessionOf = (db: Statements): Session => db._.session as unknown as Session;

/** The same statement on another connection. */
function onConnectionOf<Answer>(prepared: Prepared<Answer>, db: Statements): Prepared<Answer> {
  return Object.create(prepared, { client: { value: sessionOf(db).client } }) as Prepared<Answer>;
}

/** A query of the query builder. Its statement begins when the function is called, as `together` wants it. */
export function builtOnce<Values extends Record<string, unknown>>() {
  return <Rows>(
    build: (db: Statements, value: ValueOf<Values>) => { prepare(name: string): Prepared<Rows> },
  ): ((db: Statements, values: Values) => Promise<Rows>) => {
    let prepared: Prepared<Rows> | null = null;
    return (db, values) => {
      prepared ??= build(db, (name) => sql.placeholder(name)).prepare('');
      return onConnectionOf(prepared, db).execute(values);
    };
  };
}

/** The same for a statement that is written as text. */
export function writtenOnce<Values extends Record<string, unknown>>() {
  return <Row extends Record<string, unknown>>(
    write: (value: ValueOf<Values>) => SQL,
  ): ((db: Statements, values: Values) => Promise<{ rows: Row[] }>) => {
    let prepared: Prepared<{ rows: Row[] }> | null = null;
    return (db, values) => {
      prepared ??= sessionOf(db).prepareQuery(
        new PgDialect().sqlToQuery(write((name) => sql.placeholder(name))),
        undefined,
        undefined,
        false,
      );
      return onConnectionOf(prepared, db).execute(values);
    };
  };
}
