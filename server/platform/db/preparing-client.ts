import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { SharedClient } from './shared-client.ts';

/** A statement has one name on all connections. What is made up of values of many lengths must not fill their memory. */
const MOST_STATEMENTS = 500;

/** A name for each text, the same on all connections; none any more when there are too many. */
export function createStatementNames(prefix: string): (text: string) => string | undefined {
  const names = new Map<string, string>();
  return (text) => {
    if (!names.has(text) && names.size < MOST_STATEMENTS) names.set(text, `${prefix}-${names.size + 1}`);
    return names.get(text);
  };
}

/**
 * A kind of connection that has each statement with values parsed and planned once. For who runs the same statements
 * all the time, by keys; a list with filters is better planned for the values that it gets.
 */
export function createPreparingClient(prefix: string): typeof pg.Client {
  const nameOf = createStatementNames(prefix);
  const named = (statement: unknown, values: unknown): unknown => {
    if (!Array.isArray(values) || values.length === 0) return statement;
    if (typeof statement === 'string') return { text: statement, name: nameOf(statement) };
    if (typeof statement !== 'object' || statement === null || !('text' in statement)) return statement;
    return { ...statement, name: nameOf(String(statement.text)) };
  };
  return class PreparingClient extends SharedClient {
    #isGathering = false;

    // The driver calls it with a callback, its users without; all begin with the statement and its values.
    override query(statement: unknown, values?: unknown, ...rest: unknown[]): never {
      this.#gather();
      return Reflect.apply(super.query, this, [named(statement, values), values, ...rest]) as never;
    }

    /** Statements that are begun at the same moment leave in one piece: each piece wakes the database's process. */
    #gather(): void {
      if (this.#isGathering) return;
      this.#isGathering = true;
      const { stream } = (this as unknown as { connection: { stream: Duplex } }).connection;
      stream.cork();
      process.nextTick(() => {
        this.#isGathering = false;
        stream.uncork();
      });
    }
  };
}
