import { D, type Decimal } from '#domain/decimal.ts';
import { type AccountBalances, balancesOf } from './balances.ts';
import { type AccountBook, type BookOwner, hasBusiness, type PaperOrder, type TokenBook } from './book.ts';
import type { Mark, MarkSource } from './mark-source.ts';
import { type StopDrop, settleMark } from './matching.ts';
import type { PaperDatabase } from './paper-database.ts';
import type { PaperKey } from './paper-key.ts';
import { lockAccount, type ReadAccount, type SeenAccount, saveAccount, tokenBook } from './paper-store.ts';
import type { PutOffTask } from './put-off.ts';
import { type BookRefusal, isRefusal, type PaperRefusal } from './refusals.ts';

export type TransactionalPaperDatabase = PaperDatabase & {
  transaction<T>(work: (transaction: PaperDatabase) => Promise<T>): Promise<T>;
};

export interface PaperContext {
  db: TransactionalPaperDatabase;
  clock: { now(): Date };
  marks: MarkSource;
  readAccount: ReadAccount;
  startBalance: string;
  /** Books are worked on a few at a time, so that a thousand users at once do not exhaust the connections of all others. */
  gate: <T>(work: () => Promise<T>) => Promise<T>;
  /** Tokens found to have a price: a price, once stored, is not taken back. */
  knownTokens: Set<string>;
  keyOf: (userId: string) => PaperKey;
  /** Does something for an account when its time has come: what a fault has put off. */
  putOff: (task: PutOffTask) => void;
  /** Whether a fault makes the exchange lose the stop loss that the order carries. */
  stopDropOf: (order: PaperOrder) => StopDrop | undefined;
}

/** One account, locked and brought up to its newest marks, for the length of a transaction. */
export interface PaperSession {
  db: PaperDatabase;
  account: AccountBook;
  now: Date;
  token(token: string): TokenBook;
  /** The newest mark of the token, as this user sees it. */
  markOf(token: string): Promise<Decimal | null>;
  balances(): Promise<AccountBalances>;
}

/**
 * Runs `work` on the account under its row lock, so that several processes may use the same books.
 * A refusal thrown by `work` comes out after the settlement was saved: it must be thrown before `work` changes anything.
 */
export async function withAccount<T>(
  context: PaperContext,
  owner: BookOwner,
  work: (session: PaperSession) => Promise<T>,
): Promise<T> {
  const outcome = await context.gate(() => transact(context, owner, work));
  if ('refusal' in outcome) throw outcome.refusal;
  return outcome.value;
}

/**
 * The same for what changes nothing, without a lock where it can be: unless there are marks that the account has not
 * been brought up to, what was read is how it stands.
 */
export async function viewAccount<T>(
  context: PaperContext,
  owner: BookOwner,
  view: (session: PaperSession) => Promise<T>,
): Promise<T> {
  const viewed = await context.gate(async () => {
    const seen = await context.readAccount(context.db, owner);
    if (seen === null) return null;
    const session = openSession({ context, db: context.db, seen, now: context.clock.now() });
    return (await session.isSettled()) ? { value: await view(session) } : null;
  });
  return viewed === null ? await withAccount(context, owner, view) : viewed.value;
}

function transact<T>(
  context: PaperContext,
  owner: BookOwner,
  work: (session: PaperSession) => Promise<T>,
): Promise<{ value: T } | { refusal: PaperRefusal | BookRefusal }> {
  return context.db.transaction(async (db) => {
    const now = context.clock.now();
    const { startBalance, readAccount: read } = context;
    const locked = await lockAccount({ db, owner, read, startBalance, now });
    const session = openSession({ context, db, seen: locked, now });
    await session.settle();
    const result = await work(session).then(
      (value) => ({ value }),
      (error: unknown) => {
        if (isRefusal(error)) return { refusal: error };
        throw error;
      },
    );
    await saveAccount(db, locked);
    return result;
  });
}

function openSession(options: { context: PaperContext; db: PaperDatabase; seen: SeenAccount; now: Date }) {
  const { context, db, seen, now } = options;
  const account = seen.book;
  const scope = { userId: account.userId, db };
  const newest = new Map<string, Mark | null>();

  async function readMarks(tokens: readonly string[]): Promise<void> {
    const unread = tokens.filter((token) => !newest.has(token));
    if (unread.length === 0) return;
    const marks = await context.marks.newest(unread, scope);
    for (const token of unread) {
      const mark = marks.get(token) ?? null;
      newest.set(token, mark);
      const book = tokenBook(account, token);
      // Without open business nothing was settled: what is opened now is concerned by later marks only.
      if (!hasBusiness(book)) book.markCursor = mark?.cursor ?? null;
    }
  }

  const heldTokens = (): string[] =>
    [...account.tokens.values()].filter(({ position }) => position).map(({ token }) => token);

  /** Of a token whose mark has been read. */
  function readMark(token: string): Decimal | null {
    const mark = newest.get(token);
    return mark ? D(mark.price) : null;
  }

  /** Those with open business whose price has moved. */
  async function movedTokens(): Promise<ReadonlySet<string>> {
    if (seen.moved !== null) return seen.moved;
    const open = [...account.tokens.values()].filter(hasBusiness);
    const { moved } = context.marks;
    if (open.length === 0 || typeof moved !== 'function') return new Set();
    return moved(new Map(open.map(({ token, markCursor }) => [token, markCursor])), scope);
  }

  async function settleToken(book: TokenBook): Promise<void> {
    for (;;) {
      const page = await context.marks.since(book.token, book.markCursor, scope);
      for (const mark of page) {
        const { stopDropOf } = context;
        settleMark({ account, book, mark: D(mark.price), at: now, stopDropOf });
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
    token: (token: string) => tokenBook(account, token),
    async markOf(token: string) {
      // Who asks for one asks for those of the positions next, one by one or for the balances.
      await readMarks([...new Set([token, ...heldTokens()])]);
      return readMark(token);
    },
    async balances() {
      await readMarks(heldTokens());
      return balancesOf(account, readMark);
    },
    /** Whether no mark has come since the account was brought up to them. */
    isSettled: async () => (await movedTokens()).size === 0,
    async settle() {
      for (const token of await movedTokens()) await settleToken(tokenBook(account, token));
    },
  };
}
