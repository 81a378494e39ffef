import { and, eq, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { builtOnce, type Values, writtenOnce } from '#server/platform/db/built-once.ts';
import type { Statements } from '#server/platform/db/database.ts';
import { withCommit } from '#server/platform/db/drizzle-over.ts';
import { together } from '#server/platform/db/together.ts';
import type {
  AccountBook,
  BookOwner,
  OrderOfToken,
  PaperOrder,
  PaperPosition,
  PaperTrigger,
  PositionMode,
  TokenBook,
} from './book.ts';
import type { MarkSource, MovedCondition } from './mark-source.ts';
import {
  paperAccounts,
  paperFills,
  paperOrders,
  paperPositions,
  paperTokenSettings,
  paperTriggerOrders,
} from './paper-schema.ts';
import { listTexts, rowOfTexts, storable, type Texts, unowned } from './row-texts.ts';

/** Initial settings of an account: the product has to set its own modes, as on the real exchange. */
const NEW_ACCOUNT: Record<ExchangePlatform, Pick<AccountBook, 'positionMode' | 'marginMode'>> = {
  Bitget: { positionMode: 'hedge_mode', marginMode: null },
  Bybit: { positionMode: 'one_way_mode', marginMode: 'crossed' },
};
const NEW_TOKEN: Record<ExchangePlatform, Pick<TokenBook, 'leverage' | 'marginMode'>> = {
  Bitget: { leverage: 20, marginMode: 'crossed' },
  Bybit: { leverage: 10, marginMode: 'crossed' },
};

/** Literal, so that the planner can use the partial indexes. */
export const isPendingRow = sql`${paperOrders.state} in ('live', 'partially_filled')`;
const isLiveRow = sql`${paperTriggerOrders.state} = 'live'`;

type OwnedTable =
  | typeof paperAccounts
  | typeof paperTokenSettings
  | typeof paperOrders
  | typeof paperPositions
  | typeof paperTriggerOrders
  | typeof paperFills;

export const isOf = (table: OwnedTable, { userId, platform }: BookOwner) =>
  and(eq(table.userId, userId), eq(table.platform, platform));

/** A locked account with a copy of its rows as read, so that saving writes only changes. */
export interface LockedAccount extends SeenAccount {
  rowsBefore: Map<object, string>;
  heldBefore: Set<string>;
}

const lockRow = builtOnce<Values<BookOwner>>()((db, value) =>
  db
    .select({ userId: paperAccounts.userId })
    .from(paperAccounts)
    .where(and(eq(paperAccounts.userId, value('userId')), eq(paperAccounts.platform, value('platform'))))
    .for('update'),
);

/** An account as read. */
export interface SeenAccount {
  book: AccountBook;
  /** The orders with the queried client order id, newest first, ended or not. */
  named: OrderOfToken[];
  /**
   * Tokens with open positions or orders whose price has moved since the account was last settled; null: not checked.
   */
  moved: ReadonlySet<string> | null;
}

/** The owner whose books to read, and the client order id of an order to read in addition to the pending ones. */
export interface AccountQuery extends BookOwner {
  clientOrderId?: string | undefined;
}

export type ReadAccount = (db: Statements, query: AccountQuery) => Promise<SeenAccount | null>;

/** Opens the account if needed and locks it until the transaction ends: every process sees one order of events. */
export async function lockAccount(options: {
  db: Statements;
  query: AccountQuery;
  read: ReadAccount;
  startBalance: string;
  newAccountMode?: PositionMode;
  now: Date;
}): Promise<LockedAccount> {
  const { db, query, read, startBalance, newAccountMode, now } = options;
  const { userId, platform } = query;
  // Together and in this order: the account is read after the lock is acquired.
  const lockAndRead = async () => (await together(lockRow(db, { userId, platform }), read(db, query)))[1];
  let seen = await lockAndRead();
  if (!seen) {
    await db
      .insert(paperAccounts)
      .values({
        userId,
        platform,
        balance: startBalance,
        ...NEW_ACCOUNT[platform],
        ...(newAccountMode ? { positionMode: newAccountMode } : {}),
        openedAt: now,
      })
      .onConflictDoNothing();
    seen = await lockAndRead();
  }
  if (!seen) throw new Error('A paper account vanished while it was opened');
  const { book } = seen;
  const tokens = [...book.tokens.values()];
  return {
    ...seen,
    rowsBefore: new Map(changeableRows(book).map(({ of, row }) => [of, JSON.stringify(row)])),
    heldBefore: new Set(tokens.filter(({ position }) => position).map(({ token }) => token)),
  };
}

const isOwned = (table: OwnedTable) =>
  sql`${table.userId} = owner.user_id and ${table.platform} = owner.platform`;

type Books = Record<'accounts' | 'settings' | 'positions' | 'orders' | 'triggers' | 'named', Texts[]> & {
  moved: string[] | null;
};

const booksReader = ({ moved }: Pick<MarkSource, 'moved'>) =>
  writtenOnce<Values<BookOwner> & { clientOrderId: string | null }>()<Books>(
    (value) => sql`
    select
      ${listTexts(paperAccounts, isOwned(paperAccounts))} as accounts,
      ${listTexts(paperTokenSettings, isOwned(paperTokenSettings))} as settings,
      ${listTexts(paperPositions, isOwned(paperPositions))} as positions,
      ${listTexts(paperOrders, sql`${isOwned(paperOrders)} and ${isPendingRow}`)} as orders,
      ${listTexts(paperTriggerOrders, sql`${isOwned(paperTriggerOrders)} and ${isLiveRow}`)} as triggers,
      ${listTexts(paperOrders, sql`${isOwned(paperOrders)} and ${isNamed(value('clientOrderId'))}`)} as named,
      ${typeof moved === 'function' ? sql`null` : listMoved(moved)} as moved
    from (values (${value('userId')}::uuid, ${value('platform')}::text)) as owner (user_id, platform)`,
  );

/** Matches nothing for null. */
const isNamed = (clientOrderId: Placeholder) => sql`${paperOrders.clientOrderId} = ${clientOrderId}::text`;

/** The moved tokens among those with open positions or orders. */
const listMoved = ({ condition }: MovedCondition): SQL => sql`(
  select coalesce(json_agg(open.token), '[]')
  from (
    select ${paperPositions.token} from ${paperPositions} where ${isOwned(paperPositions)}
    union select ${paperOrders.token} from ${paperOrders} where ${isOwned(paperOrders)} and ${isPendingRow}
  ) as open
  left join ${paperTokenSettings} on ${isOwned(paperTokenSettings)} and ${paperTokenSettings.token} = open.token
  where ${condition({ token: sql`open.token`, cursor: sql`${paperTokenSettings.markCursor}`, userId: sql`owner.user_id` })})`;

/** Reads the account (null if not opened yet) in one statement, because every request reads it. */
export function createAccountReader(marks: Pick<MarkSource, 'moved'>): ReadAccount {
  const readBooks = booksReader(marks);
  return async (db, { userId, platform, clientOrderId = null }) => {
    const { rows } = await readBooks(db, { userId, platform, clientOrderId });
    const [books] = rows;
    const book = books === undefined ? null : bookOf(books);
    if (books === undefined || book === null) return null;
    const named = ordersIn(books.named).reverse();
    return { book, named, moved: books.moved === null ? null : new Set(books.moved) };
  };
}

function bookOf(books: Books): AccountBook | null {
  const { accounts, settings, positions, orders, triggers } = books;
  const [texts] = accounts;
  if (texts === undefined) return null;
  const book: AccountBook = { ...rowOfTexts(paperAccounts, texts), tokens: new Map() };
  for (const row of settings.map((one) => rowOfTexts(paperTokenSettings, one))) {
    Object.assign(tokenBook(book, row.token), settingsOf(row));
  }
  for (const row of positions.map((one) => rowOfTexts(paperPositions, one))) {
    tokenBook(book, row.token).position = unowned(row);
  }
  for (const { token, order } of ordersIn(orders)) tokenBook(book, token).orders.push(order);
  for (const row of triggers.map((one) => rowOfTexts(paperTriggerOrders, one)).sort(byId)) {
    tokenBook(book, row.token).triggers.push(unowned(row));
  }
  return book;
}

/** Oldest first. */
const ordersIn = (rows: readonly Texts[]): OrderOfToken[] =>
  rows
    .map((texts) => rowOfTexts(paperOrders, texts))
    .sort(byId)
    .map((row) => ({ token: row.token, order: unowned(row) }));

const byId = (one: { id: bigint }, other: { id: bigint }) => (one.id < other.id ? -1 : 1);

/** The book of one token, created with the exchange's defaults if the account has none yet. */
export function tokenBook(account: AccountBook, token: string): TokenBook {
  const known = account.tokens.get(token);
  if (known) return known;
  const book: TokenBook = {
    token,
    ...NEW_TOKEN[account.platform],
    positionMode: null,
    markCursor: null,
    position: null,
    orders: [],
    triggers: [],
    fills: [],
  };
  account.tokens.set(token, book);
  return book;
}

/**
 * The last step of a transaction: all statements go out with its COMMIT, except orders with fills, which are stored
 * first because fills reference them.
 */
export async function saveAccount(
  db: Statements,
  { book, rowsBefore, heldBefore }: LockedAccount,
): Promise<void> {
  const isChanged: IsChanged = (of, row) => rowsBefore.get(of) !== JSON.stringify(row);
  const { userId, platform } = book;
  const tokens = [...book.tokens.values()].map((of) => ({
    of,
    place: { userId, platform, token: of.token },
  }));
  const saves = [
    saveBalance(db, book, isChanged),
    ...tokens.flatMap(({ of, place }) => [
      saveSettings(db, place, of, isChanged),
      ...of.orders.map((order) => saveOrder(db, place, order, isChanged)),
      savePosition(db, place, of.position, { isChanged, wasHeld: heldBefore.has(of.token) }),
      ...endedFirst(of.triggers).map((trigger) => saveTrigger(db, place, trigger, isChanged)),
    ]),
  ];
  if (tokens.every(({ of }) => of.fills.length === 0)) return withCommit(db, ...saves);
  await together(...saves);
  const fills = tokens.flatMap(({ of, place }) =>
    of.fills.map(({ order, ...fill }) => {
      if (order.id === null) throw new Error('A fill needs a stored order');
      return { ...place, orderId: order.id, ...storable(fill) };
    }),
  );
  withCommit(db, db.insert(paperFills).values(fills).execute());
}

type IsChanged = (of: object, row: object) => boolean;
type Place = BookOwner & { token: string };

const accountRow = ({ balance, realisedProfit, feesPaid, positionMode, marginMode }: AccountBook) =>
  storable({ balance, realisedProfit, feesPaid, positionMode, marginMode });

type Settings = Pick<TokenBook, 'leverage' | 'marginMode' | 'positionMode' | 'markCursor'>;
const settingsOf = ({ leverage, marginMode, positionMode, markCursor }: Settings): Settings => ({
  leverage,
  marginMode,
  positionMode,
  markCursor,
});

const numberedRow = <Row extends { id: bigint | null }>({ id: _id, ...row }: Row) => storable(row);

function changeableRows(book: AccountBook): { of: object; row: object }[] {
  return [
    { of: book, row: accountRow(book) },
    ...[...book.tokens.values()].flatMap((token) => [
      { of: token, row: settingsOf(token) },
      ...[...token.orders, ...token.triggers].map((of) => ({ of, row: numberedRow(of) })),
      ...(token.position ? [{ of: token.position, row: storable(token.position) }] : []),
    ]),
  ];
}

async function saveBalance(db: Statements, book: AccountBook, isChanged: IsChanged): Promise<void> {
  const row = accountRow(book);
  if (isChanged(book, row)) {
    await db.update(paperAccounts).set(row).where(isOf(paperAccounts, book)).execute();
  }
}

async function saveSettings(
  db: Statements,
  place: Place,
  book: TokenBook,
  isChanged: IsChanged,
): Promise<void> {
  const row = settingsOf(book);
  if (isChanged(book, row)) await writeSettings(db, { ...place, ...row });
}

const writeSettings = builtOnce<Values<Place & Settings>>()((db, value) =>
  db
    .insert(paperTokenSettings)
    .values({
      userId: value('userId'),
      platform: value('platform'),
      token: value('token'),
      leverage: value('leverage'),
      marginMode: value('marginMode'),
      positionMode: value('positionMode'),
      markCursor: value('markCursor'),
    })
    .onConflictDoUpdate({
      target: [paperTokenSettings.userId, paperTokenSettings.platform, paperTokenSettings.token],
      set: {
        leverage: sql`excluded.leverage`,
        marginMode: sql`excluded.margin_mode`,
        positionMode: sql`excluded.position_mode`,
        markCursor: sql`excluded.mark_cursor`,
      },
    }),
);

async function saveOrder(
  db: Statements,
  place: Place,
  order: PaperOrder,
  isChanged: IsChanged,
): Promise<void> {
  const row = numberedRow(order);
  if (order.id === null) {
    const values = { ...place, ...row };
    const [stored] = await db.insert(paperOrders).values(values).returning({ id: paperOrders.id }).execute();
    order.id = stored?.id ?? null;
  } else if (isChanged(order, row)) {
    await db.update(paperOrders).set(row).where(eq(paperOrders.id, order.id)).execute();
  }
}

async function savePosition(
  db: Statements,
  { userId, platform, token }: Place,
  position: PaperPosition | null,
  { isChanged, wasHeld }: { isChanged: IsChanged; wasHeld: boolean },
): Promise<void> {
  if (!position) {
    const here = and(isOf(paperPositions, { userId, platform }), eq(paperPositions.token, token));
    if (wasHeld) await db.delete(paperPositions).where(here).execute();
    return;
  }
  const row = storable(position);
  if (!isChanged(position, row)) return;
  await db
    .insert(paperPositions)
    .values({ userId, platform, token, ...row })
    .onConflictDoUpdate({
      target: [paperPositions.userId, paperPositions.platform, paperPositions.token],
      set: row,
    })
    .execute();
}

/** The index allows one live stop and one live target per position. */
const endedFirst = (triggers: readonly PaperTrigger[]): PaperTrigger[] =>
  [...triggers].sort((a, b) => Number(a.state === 'live') - Number(b.state === 'live'));

async function saveTrigger(
  db: Statements,
  place: Place,
  trigger: PaperTrigger,
  isChanged: IsChanged,
): Promise<void> {
  const row = numberedRow(trigger);
  if (trigger.id === null) {
    const insert = db.insert(paperTriggerOrders).values({ ...place, ...row });
    const [stored] = await insert.returning({ id: paperTriggerOrders.id }).execute();
    trigger.id = stored?.id ?? null;
  } else if (isChanged(trigger, row)) {
    await db.update(paperTriggerOrders).set(row).where(eq(paperTriggerOrders.id, trigger.id)).execute();
  }
}
