import pg from 'pg';
import type { NamedStatement } from './database.ts';

/**
 * A connection of a pool. The pool listens to the idle ones only: an error on one in use would end the program, although
 * the next statement on it fails anyway. (Drizzle takes a class with `Pool` in its name for a pool.)
 */
export class SharedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on('error', () => {});
  }
}

/** Statements whose text depends on the number of values must not fill the memory of connections. */
const MOST_STATEMENTS = 500;

/** A name for each text, the same on all connections, until there are too many. */
export function createStatementNames(prefix: string): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    if (!names.has(text) && names.size < MOST_STATEMENTS) names.set(text, `${prefix}-${names.size + 1}`);
    return names.get(text);
  };
}

/**
 * Connections that have each statement with values parsed and planned once: for callers that run the same statements by
 * keys all the time. A list with filters is better planned for its values.
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

    /** Sends statements that are begun at the same moment in one piece: each piece wakes the database's process. */
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
