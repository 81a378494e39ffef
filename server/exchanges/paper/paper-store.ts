import { and, asc, between, desc, eq, inArray, sql } from 'drizzle-orm';
import { union } from 'drizzle-orm/pg-core';
import { D, type Decimal, toPlain } from '#domain/decimal.ts';
import type {
  AccountBook,
  MarginMode,
  PaperOrder,
  PaperPosition,
  PaperTrigger,
  PlanType,
  PositionMode,
  Side,
  TokenBook,
} from './book.ts';
import type { PaperDatabase } from './paper-database.ts';
import {
  paperAccounts,
  paperFills,
  paperOrders,
  paperPositions,
  paperTokenSettings,
  paperTriggerOrders,
} from './paper-schema.ts';

/** What a Bitget account starts with: the product has to set its own modes, here as there. */
const NEW_ACCOUNT = { positionMode: 'hedge_mode' } as const;
const NEW_TOKEN = { leverage: 20, marginMode: 'crossed' } as const;

/** Literal, so that the planner can use the partial indexes. */
const isPendingRow = sql`${paperOrders.state} in ('live', 'partially_filled')`;

/** An account in hand, with a memory of its rows, so that saving writes only what changed. */
export interface LockedAccount {
  book: AccountBook;
  rowsBefore: Map<object, string>;
  heldBefore: Set<string>;
}

/** Opens the account if need be and locks it until the transaction ends: every process sees one order of events. */
export async function lockAccount(options: {
  db: PaperDatabase;
  userId: string;
  startBalance: string;
  now: Date;
}): Promise<LockedAccount> {
  const { db, userId, startBalance, now } = options;
  const select = () => db.select().from(paperAccounts).where(eq(paperAccounts.userId, userId)).for('update');
  let [account] = await select();
  if (!account) {
    await db
      .insert(paperAccounts)
      .values({ userId, balance: startBalance, ...NEW_ACCOUNT, openedAt: now })
      .onConflictDoNothing();
    [account] = await select();
  }
  if (!account) throw new Error('A paper account vanished while it was opened');

  const settings = await db.select().from(paperTokenSettings).where(eq(paperTokenSettings.userId, userId));
  const positions = await db.select().from(paperPositions).where(eq(paperPositions.userId, userId));
  const orders = await db
    .select()
    .from(paperOrders)
    .where(and(eq(paperOrders.userId, userId), isPendingRow))
    .orderBy(asc(paperOrders.id));
  const triggers = await db
    .select()
    .from(paperTriggerOrders)
    .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.state, 'live')));

  const book: AccountBook = {
    userId,
    balance: D(account.balance),
    realisedProfit: D(account.realisedProfit),
    feesPaid: D(account.feesPaid),
    positionMode: account.positionMode as PositionMode,
    tokens: new Map(),
  };
  for (const row of settings) {
    const token = tokenBook(book, row.token);
    token.leverage = row.leverage;
    token.marginMode = row.marginMode as MarginMode;
    token.markCursor = row.markCursor;
  }
  for (const row of positions) tokenBook(book, row.token).position = positionFromRow(row);
  for (const row of orders) tokenBook(book, row.token).orders.push(orderFromRow(row));
  for (const row of triggers) tokenBook(book, row.token).triggers.push(triggerFromRow(row));
  return {
    book,
    rowsBefore: new Map(changeableRows(book).map(({ of, row }) => [of, JSON.stringify(row)])),
    heldBefore: new Set(positions.map(({ token }) => token)),
  };
}

/** The book of one token, made with the exchange's defaults where the account has none yet. */
export function tokenBook(account: AccountBook, token: string): TokenBook {
  const known = account.tokens.get(token);
  if (known) return known;
  const book: TokenBook = {
    token,
    ...NEW_TOKEN,
    markCursor: null,
    position: null,
    orders: [],
    triggers: [],
    fills: [],
  };
  account.tokens.set(token, book);
  return book;
}

export async function saveAccount(
  db: PaperDatabase,
  { book, rowsBefore, heldBefore }: LockedAccount,
): Promise<void> {
  const { userId } = book;
  const changed = (of: object, row: object) => rowsBefore.get(of) !== JSON.stringify(row);
  if (changed(book, accountRow(book))) {
    await db.update(paperAccounts).set(accountRow(book)).where(eq(paperAccounts.userId, userId));
  }
  for (const token of book.tokens.values()) {
    if (changed(token, settingsRow(token))) {
      const row = settingsRow(token);
      await db
        .insert(paperTokenSettings)
        .values({ userId, token: token.token, ...row })
        .onConflictDoUpdate({ target: [paperTokenSettings.userId, paperTokenSettings.token], set: row });
    }
    for (const order of token.orders) {
      const row = orderRow(order);
      if (order.id === null) {
        const values = { userId, token: token.token, createdAt: order.createdAt, ...row };
        const [stored] = await db.insert(paperOrders).values(values).returning({ id: paperOrders.id });
        order.id = stored?.id ?? null;
      } else if (changed(order, row)) {
        await db.update(paperOrders).set(row).where(eq(paperOrders.id, order.id));
      }
    }
    if (token.position || heldBefore.has(token.token)) await savePosition(db, userId, token, changed);
    await saveTriggers(db, userId, token, changed);
    if (token.fills.length > 0) {
      await db.insert(paperFills).values(token.fills.map((fill) => fillRow(userId, token.token, fill)));
    }
  }
}

async function savePosition(
  db: PaperDatabase,
  userId: string,
  { token, position }: TokenBook,
  changed: (of: object, row: object) => boolean,
): Promise<void> {
  const here = and(eq(paperPositions.userId, userId), eq(paperPositions.token, token));
  if (!position) {
    await db.delete(paperPositions).where(here);
    return;
  }
  const row = positionRow(position);
  if (!changed(position, row)) return;
  await db
    .insert(paperPositions)
    .values({ userId, token, ...row })
    .onConflictDoUpdate({ target: [paperPositions.userId, paperPositions.token], set: row });
}

async function saveTriggers(
  db: PaperDatabase,
  userId: string,
  { token, triggers }: TokenBook,
  changed: (of: object, row: object) => boolean,
): Promise<void> {
  // Ended ones first: the index allows one live stop and one live target for a position.
  const endedFirst = [...triggers].sort((a, b) => Number(a.state === 'live') - Number(b.state === 'live'));
  for (const trigger of endedFirst) {
    const row = triggerRow(trigger);
    if (trigger.id === null) {
      await db.insert(paperTriggerOrders).values({ userId, token, createdAt: trigger.createdAt, ...row });
    } else if (changed(trigger, row)) {
      await db.update(paperTriggerOrders).set(row).where(eq(paperTriggerOrders.id, trigger.id));
    }
  }
}

/** One order of the account, pending or done, by the exchange's id or the client's; the newest when an id was used again. */
export async function findStoredOrder(
  db: PaperDatabase,
  query: { userId: string; token: string; orderId?: bigint; clientOrderId?: string },
): Promise<PaperOrder | null> {
  const by =
    query.orderId === undefined
      ? eq(paperOrders.clientOrderId, query.clientOrderId ?? '')
      : eq(paperOrders.id, query.orderId);
  const [row] = await db
    .select()
    .from(paperOrders)
    .where(and(eq(paperOrders.userId, query.userId), eq(paperOrders.token, query.token), by))
    .orderBy(desc(paperOrders.id))
    .limit(1);
  return row ? orderFromRow(row) : null;
}

export async function newestFills(
  db: PaperDatabase,
  query: { userId: string; token: string | null; limit: number },
) {
  const mine = eq(paperFills.userId, query.userId);
  return db
    .select()
    .from(paperFills)
    .where(query.token === null ? mine : and(mine, eq(paperFills.token, query.token)))
    .orderBy(desc(paperFills.id))
    .limit(query.limit);
}

/** Every fill of the account, oldest first. */
export async function listFills(db: PaperDatabase, userId: string) {
  return db.select().from(paperFills).where(eq(paperFills.userId, userId)).orderBy(asc(paperFills.id));
}

/** Orders of the account that have ended in the period, newest first. */
export async function listEndedOrders(
  db: PaperDatabase,
  query: { userId: string; token: string; from: Date; to: Date; limit: number },
): Promise<PaperOrder[]> {
  const { userId, token, from, to, limit } = query;
  const rows = await db
    .select()
    .from(paperOrders)
    .where(
      and(
        eq(paperOrders.userId, userId),
        eq(paperOrders.token, token),
        inArray(paperOrders.state, ['filled', 'canceled']),
        between(paperOrders.createdAt, from, to),
      ),
    )
    .orderBy(desc(paperOrders.id))
    .limit(limit);
  return rows.map(orderFromRow);
}

/** Users whom a new price of the token may concern: two index look-ups, cheap when there are none. */
export async function usersWithOpenBusiness(db: PaperDatabase, token: string): Promise<string[]> {
  const resting = db
    .select({ userId: paperOrders.userId })
    .from(paperOrders)
    .where(and(eq(paperOrders.token, token), isPendingRow));
  const holding = db
    .select({ userId: paperPositions.userId })
    .from(paperPositions)
    .where(eq(paperPositions.token, token));
  return (await union(resting, holding)).map(({ userId }) => userId);
}

function changeableRows(book: AccountBook): { of: object; row: object }[] {
  return [
    { of: book, row: accountRow(book) },
    ...[...book.tokens.values()].flatMap((token) => [
      { of: token, row: settingsRow(token) },
      ...token.orders.map((order) => ({ of: order, row: orderRow(order) })),
      ...token.triggers.map((trigger) => ({ of: trigger, row: triggerRow(trigger) })),
      ...(token.position ? [{ of: token.position, row: positionRow(token.position) }] : []),
    ]),
  ];
}

const text = (value: Decimal) => toPlain(value);
const textOrNull = (value: Decimal | null) => (value === null ? null : toPlain(value));
const decimalOrNull = (value: string | null) => (value === null ? null : D(value));

const accountRow = (book: AccountBook) => ({
  balance: text(book.balance),
  realisedProfit: text(book.realisedProfit),
  feesPaid: text(book.feesPaid),
  positionMode: book.positionMode,
});

const settingsRow = ({ leverage, marginMode, markCursor }: TokenBook) => ({
  leverage,
  marginMode,
  markCursor,
});

const orderRow = (order: PaperOrder) => ({
  clientOrderId: order.clientOrderId,
  side: order.side,
  orderType: order.type,
  reduceOnly: order.reduceOnly,
  price: textOrNull(order.price),
  size: text(order.size),
  filledSize: text(order.filledSize),
  filledValue: text(order.filledValue),
  fee: text(order.fee),
  profit: text(order.profit),
  leverage: order.leverage,
  marginMode: order.marginMode,
  positionMode: order.positionMode,
  presetStopLoss: textOrNull(order.presetStopLoss),
  presetTakeProfit: textOrNull(order.presetTakeProfit),
  state: order.state,
  source: order.source,
  updatedAt: order.updatedAt,
});

const orderFromRow = (row: typeof paperOrders.$inferSelect): PaperOrder => ({
  id: row.id,
  clientOrderId: row.clientOrderId,
  side: row.side as Side,
  type: row.orderType as PaperOrder['type'],
  reduceOnly: row.reduceOnly,
  price: decimalOrNull(row.price),
  size: D(row.size),
  filledSize: D(row.filledSize),
  filledValue: D(row.filledValue),
  fee: D(row.fee),
  profit: D(row.profit),
  leverage: row.leverage,
  marginMode: row.marginMode as MarginMode,
  positionMode: row.positionMode as PositionMode,
  presetStopLoss: decimalOrNull(row.presetStopLoss),
  presetTakeProfit: decimalOrNull(row.presetTakeProfit),
  state: row.state as PaperOrder['state'],
  source: row.source as PaperOrder['source'],
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

const positionRow = (position: PaperPosition) => ({
  side: position.side,
  size: text(position.size),
  entryPrice: text(position.entryPrice),
  margin: text(position.margin),
  leverage: position.leverage,
  marginMode: position.marginMode,
  realisedProfit: text(position.realisedProfit),
  openedAt: position.openedAt,
  updatedAt: position.updatedAt,
});

const positionFromRow = (row: typeof paperPositions.$inferSelect): PaperPosition => ({
  side: row.side as PaperPosition['side'],
  size: D(row.size),
  entryPrice: D(row.entryPrice),
  margin: D(row.margin),
  leverage: row.leverage,
  marginMode: row.marginMode as MarginMode,
  realisedProfit: D(row.realisedProfit),
  openedAt: row.openedAt,
  updatedAt: row.updatedAt,
});

const triggerRow = (trigger: PaperTrigger) => ({
  clientOrderId: trigger.clientOrderId,
  planType: trigger.planType,
  holdSide: trigger.holdSide,
  triggerPrice: text(trigger.triggerPrice),
  size: text(trigger.size),
  state: trigger.state,
  updatedAt: trigger.updatedAt,
});

const triggerFromRow = (row: typeof paperTriggerOrders.$inferSelect): PaperTrigger => ({
  id: row.id,
  clientOrderId: row.clientOrderId,
  planType: row.planType as PlanType,
  holdSide: row.holdSide as PaperTrigger['holdSide'],
  triggerPrice: D(row.triggerPrice),
  size: D(row.size),
  state: row.state as PaperTrigger['state'],
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
});

function fillRow(userId: string, token: string, fill: TokenBook['fills'][number]) {
  if (fill.order.id === null) throw new Error('A fill needs a stored order');
  return {
    userId,
    token,
    orderId: fill.order.id,
    side: fill.side,
    price: text(fill.price),
    size: text(fill.size),
    value: text(fill.value),
    fee: text(fill.fee),
    profit: text(fill.profit),
    liquidity: fill.liquidity,
    createdAt: fill.at,
  };
}
