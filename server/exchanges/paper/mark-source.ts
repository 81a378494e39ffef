import type { SQL } from 'drizzle-orm';
import type { Statements } from '#server/platform/db/database.ts';

/** One price that the paper exchange takes as the mark of a token. */
export interface Mark {
  price: string;
  at: Date;
  /** Opaque to the exchange, ordered by arrival: what `since` takes to go on after this mark. */
  cursor: string;
}

export interface MarkScope {
  /** Whose books are marked: prices of a user's own signals count only for that user. Null: prices that count for everyone. */
  userId: string | null;
  /** Read with this, so that a settlement sees its prices inside its own transaction and takes no second connection. */
  db: Statements;
}

/**
 * Which of these tokens have marks after their cursors (null: any mark). Marks in the accounts' own database give an SQL
 * condition instead, so that an account is read with them in one statement.
 */
export type Moved =
  | ((cursors: ReadonlyMap<string, string | null>, scope: MarkScope) => Promise<Set<string>>)
  | MovedCondition;

export interface MovedCondition {
  condition: (known: { token: SQL; cursor: SQL; userId: SQL }) => SQL;
}

/** Where the paper exchange takes its prices from. */
export interface MarkSource {
  /** The newest mark of each of these tokens that has one. */
  newest(tokens: readonly string[], scope: MarkScope): Promise<Map<string, Mark>>;
  /** The marks after `cursor` (null: from the first one on), oldest first. A page may be cut short; the caller asks again until it is empty. */
  since(token: string, cursor: string | null, scope: MarkScope): Promise<Mark[]>;
  /** Whether tokens have marks after their cursors. */
  moved: Moved;
  /** Every token that has a price from anybody: those are the contracts listed beyond the built-in ones. */
  tokens(scope: { db: Statements }): Promise<string[]>;
}
