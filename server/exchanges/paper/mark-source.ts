import type { SQL } from 'drizzle-orm';
import type { Statements } from '#server/platform/db/database.ts';

/** One price that the paper exchange uses as a token's mark. */
export interface Mark {
  price: string;
  at: Date;
  /** Opaque to the exchange, ordered by arrival: pass it to `since` to continue after this mark. */
  cursor: string;
}

export interface MarkScope {
  /**
   * The user whose books are marked: prices of a user's own signals count only for that user. Null: prices that count
   * for everyone.
   */
  userId: string | null;
  /** Used for the reads, so that a settlement sees prices inside its own transaction and takes no second connection. */
  db: Statements;
}

/**
 * The tokens that have marks after their cursors (null: any mark). A mark source in the accounts' own database provides
 * an SQL condition instead, so that one statement reads an account and its moved tokens.
 */
export type Moved =
  | ((cursors: ReadonlyMap<string, string | null>, scope: MarkScope) => Promise<Set<string>>)
  | MovedCondition;

export interface MovedCondition {
  condition: (known: { token: SQL; cursor: SQL; userId: SQL }) => SQL;
}

/** The price source of the paper exchange. */
export interface MarkSource {
  /** The newest mark of each of these tokens that has one. */
  newest(tokens: readonly string[], scope: MarkScope): Promise<Map<string, Mark>>;
  /**
   * The marks after `cursor` (null: from the first one), oldest first. A page may be cut short; the caller repeats the
   * call until a page is empty.
   */
  since(token: string, cursor: string | null, scope: MarkScope): Promise<Mark[]>;
  /** Whether tokens have marks after their cursors. */
  moved: Moved;
  /** Every token with a price from anybody: these are listed as contracts in addition to the built-in ones. */
  tokens(scope: { db: Statements }): Promise<string[]>;
}
