import { D, type Decimal } from '#domain/decimal.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Statements } from '#server/platform/db/database.ts';
import { batched } from '../batched.ts';
import {
  type AccountBalances,
  type AccountBook,
  balancesOf,
  hasBusiness,
  type PaperOrder,
  type PositionMode,
  type TokenBook,
} from './book.ts';
import { createGate } from './gate.ts';
import type { Mark, MarkSource } from './mark-source.ts';
import { type StopAtFill, settleMark } from './matching.ts';
import { BUILT_IN_TOKENS } from './paper-contracts.ts';
import { booksWithOpenBusiness } from './paper-queries.ts';
import {
  type AccountQuery,
  createAccountReader,
  lockAccount,
  type ReadAccount,
  type SeenAccount,
  saveAccount,
  tokenBook,
} from './paper-store.ts';
import { Refusal } from './refusals.ts';

export type TransactionalDatabase = Statements & {
  transaction<T>(work: (transaction: Statements) => Promise<T>): Promise<T>;
};

export interface PaperBooksOptions {
  db: TransactionalDatabase;
  clock: Clock;
  marks: MarkSource;
  /** USDT balance of a new account. */
  startBalance: string;
  /** The position mode of new accounts; defaults to the platform's own. */
  newAccountMode?: PositionMode;
  stopAtFill?: StopAtFill;
}

/** The accounts of all users on all platforms, in the database, and the prices that mark them. */
export interface PaperBooks extends PaperBooksOptions {
  readAccount: ReadAccount;
  /** Limits concurrent work on books, so that a thousand users do not exhaust the connections of everyone else. */
  gate: <T>(work: () => Promise<T>) => Promise<T>;
  /** Tokens known to have a price: a stored price is never withdrawn. */
  knownTokens: Set<string>;
}

const CONCURRENT_BOOKS = 6;
/** The longest delay before a price is applied; under load one query then serves hundreds of prices. */
const FIND_BOOKS_EVERY_MS = 20;

export function openPaperBooks(options: PaperBooksOptions): PaperBooks {
  return {
    ...options,
    readAccount: createAccountReader(options.marks),
    gate: createGate(CONCURRENT_BOOKS),
    knownTokens: new Set(BUILT_IN_TOKENS),
  };
}

/** Applies a token's new prices to every account that has a position or a resting order in it. */
export function createSettler(
  books: PaperBooks,
  onError: (error: unknown) => void,
): (token: string) => Promise<void> {
  // A query starts after all of its tokens were asked for, so it sees everything that was stored before.
  const findBooks = batched(
    async (tokens: string[]) => {
      const owners = await booksWithOpenBusiness(books.db, [...new Set(tokens)]);
      return tokens.map((token) => owners.get(token) ?? []);
    },
    { everyMs: FIND_BOOKS_EVERY_MS, clock: books.clock },
  );
  return async (token) => {
    const owners = await findBooks(token);
    // A failed account does not block the others: its next request settles it.
    await Promise.all(owners.map((owner) => withAccount(books, owner, async () => undefined).catch(onError)));
  };
}

/** One account with its newest marks applied, for the duration of a transaction. */
export interface PaperSession {
  db: Statements;
  account: AccountBook;
  now: Date;
  stopAtFill: StopAtFill | undefined;
  token(token: string): TokenBook;
  /** The order with the queried client order id, pending or ended; the newest one if the id was reused. */
  namedOrder(token: string): PaperOrder | null;
  /** The token's newest mark, as this user sees it. */
  markOf(token: string): Promise<Decimal | null>;
  balances(): Promise<AccountBalances>;
}

/**
 * Runs `work` on the account under its row lock, so that several processes may use the same books. A refusal thrown by
 * `work` is rethrown after the settlement was saved, so `work` must throw it before it changes anything.
 */
export async function withAccount<T>(
  books: PaperBooks,
  query: AccountQuery,
  work: (session: PaperSession) => Promise<T>,
): Promise<T> {
  const outcome = await books.gate(() => transact(books, query, work));
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.value;
}

/** The same for read-only work: takes no lock unless newer marks have to be applied first. */
export async function viewAccount<T>(
  books: PaperBooks,
  query: AccountQuery,
  view: (session: PaperSession) => Promise<T>,
): Promise<T> {
  const viewed = await books.gate(async () => {
    const seen = await books.readAccount(books.db, query);
    if (seen === null) return null;
    const session = openSession({ books, query, db: books.db, seen, now: books.clock.now() });
    return (await session.isSettled()) ? { value: await view(session) } : null;
  });
  return viewed === null ? await withAccount(books, query, view) : viewed.value;
}

function transact<T>(
  books: PaperBooks,
  query: AccountQuery,
  work: (session: PaperSession) => Promise<T>,
): Promise<{ value: T } | { refusal: Refusal }> {
  return books.db.transaction(async (db) => {
    const now = books.clock.now();
    const { readAccount: read } = books;
    const locked = await lockAccount({ ...books, db, query, read, now });
    const session = openSession({ books, query, db, seen: locked, now });
    await session.settle();
    const result = await work(session).then(
      (value) => ({ value }),
      (error: unknown) => {
        if (error instanceof Refusal) return { refusal: error };
        throw error;
      },
    );
    await saveAccount(db, locked);
    return result;
  });
}

function openSession(options: {
  books: PaperBooks;
  query: AccountQuery;
  db: Statements;
  seen: SeenAccount;
  now: Date;
}) {
  const { books, query, db, seen, now } = options;
  const { marks, stopAtFill } = books;
  const account = seen.book;
  const scope = { userId: account.userId, db };
  const newest = new Map<string, Mark | null>();

  async function readMarks(tokens: readonly string[]): Promise<void> {
    const unread = tokens.filter((token) => !newest.has(token));
    if (unread.length === 0) return;
    const found = await marks.newest(unread, scope);
    for (const token of unread) {
      const mark = found.get(token) ?? null;
      newest.set(token, mark);
      const book = tokenBook(account, token);
      // Without an open position or order nothing was settled: only later marks apply to anything opened now.
      if (!hasBusiness(book)) book.markCursor = mark?.cursor ?? null;
    }
  }

  const heldTokens = (): string[] =>
    [...account.tokens.values()].filter(({ position }) => position).map(({ token }) => token);

  /** Only for tokens whose mark has been read. */
  function readMark(token: string): Decimal | null {
    const mark = newest.get(token);
    return mark ? D(mark.price) : null;
  }

  /** Tokens with open positions or orders whose price has moved. */
  async function movedTokens(): Promise<ReadonlySet<string>> {
    if (seen.moved !== null) return seen.moved;
    const open = [...account.tokens.values()].filter(hasBusiness);
    const { moved } = marks;
    if (open.length === 0 || typeof moved !== 'function') return new Set();
    return moved(new Map(open.map(({ token, markCursor }) => [token, markCursor])), scope);
  }

  async function settleToken(book: TokenBook): Promise<void> {
    for (;;) {
      const page = await marks.since(book.token, book.markCursor, scope);
      for (const mark of page) {
        settleMark({ account, book, mark: D(mark.price), at: now, stopAtFill });
        book.markCursor = mark.cursor;
        newest.set(book.token, mark);
      }
      if (page.length === 0) return;
    }
  }

  return {
    db,
    account,
    now,
    stopAtFill,
    token: (token: string) => tokenBook(account, token),
    namedOrder(token: string) {
      const isNamed = (order: PaperOrder) => order.clientOrderId === query.clientOrderId;
      // Orders settled in this session are in the book but not yet in the table.
      const inHand = account.tokens.get(token)?.orders.findLast(isNamed);
      return inHand ?? seen.named.find((one) => one.token === token)?.order ?? null;
    },
    async markOf(token: string) {
      // Also reads the marks of held positions: the balances need them next.
      await readMarks([...new Set([token, ...heldTokens()])]);
      return readMark(token);
    },
    async balances() {
      await readMarks(heldTokens());
      return balancesOf(account, readMark);
    },
    /** Whether no mark has arrived since the account was last settled. */
    isSettled: async () => (await movedTokens()).size === 0,
    async settle() {
      for (const token of await movedTokens()) await settleToken(tokenBook(account, token));
    },
  };
}
