import pg from 'pg';
import type { NamedStatement } from './database.ts';

/**
 * A connection of a pool. The pool listens for errors on idle connections only: an error on a connection in use would
 * end the program, although its next statement fails anyway. (Drizzle takes a class with `Pool` in its name for a
 * pool.)
 */
export class SharedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** Statements whose text depends on the number of values must not fill the memory of the connections. */
const MOST_STATEMENTS = 500;

/** Names each text, the same on all connections, up to a limit. */
export function createStatementNames(prefix: string): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    if (!names.has(text) && names.size < MOST_STATEMENTS) names.set(text, `${prefix}-${names.size + 1}`);
    return names.get(text);
  };
}

/**
 * Connections that parse and plan each statement with values once, for callers that repeat the same statements by key.
 * A list with filters gets a better plan for its own values.
 */
export function createPreparingClient(prefix: string): typeof pg.Client {
  const nameOf = createStatementNames(prefix);
  const named = (statement: unknown, given: unknown): unknown => {
    const { text, name, values } =
      typeof statement === 'string'
        ? { text: statement, name: undefined, values: given }
        : { values: given, ...(statement as Partial<NamedStatement>) };
    if (text === undefined || !Array.isArray(values) || values.length === 0) return statement;
    return { ...(typeof statement === 'object' ? statement : {}), text, name: name || nameOf(text) };
  };
  return class PreparingClient extends SharedClient {
    #isGathering = false;

    // Called with and without a callback; the statement and its values always come first.
    override query(statement: unknown, values?: unknown, ...rest: unknown[]): never {
      this.#gather();
      return Reflect.apply(super.query, this, [named(statement, values), values, ...rest]) as never;
    }

    /** Sends statements begun in the same tick in one piece: each piece wakes the database's process. */
    #gather(): void {
      if (this.#isGathering) return;
      this.#isGathering = true;
      const { stream } = this.connection;
      stream.cork();
      process.nextTick(() => {
        this.#isGathering = false;
        stream.uncork();
      });
    }
  };
}
