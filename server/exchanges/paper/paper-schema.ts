import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import type { ExchangePlatform } from '#domain/user-settings.ts';

/**
 * The books of the paper exchange. No foreign key leads out of them: a real exchange does not know our users either. A
 * user has separate books on each platform. Derived values (available, locked, equity) are computed, never stored.
 */
const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
const side = (name: string) => text(name).$type<'buy' | 'sell'>().notNull();
const positionSide = (name: string) => text(name).$type<'long' | 'short'>().notNull();
const marginMode = () => text('margin_mode').$type<'isolated' | 'crossed'>();
const positionMode = () => text('position_mode').$type<'one_way_mode' | 'hedge_mode'>();
type Plan = 'pos_loss' | 'pos_profit';
/** With a size of their own, beside those of the whole position. */
type SizedPlan = 'loss_plan' | 'profit_plan';
const ofPlatform = () => text('platform').$type<ExchangePlatform>().notNull();

export const paperAccounts = pgTable(
  'paper_accounts',
  {
    userId: uuid('user_id').notNull(),
    platform: ofPlatform(),
    /** Deposit plus realised profit minus fees. Includes the margin of open positions. */
    balance: numeric('balance').notNull(),
    realisedProfit: numeric('realised_profit').notNull().default('0'),
    feesPaid: numeric('fees_paid').notNull().default('0'),
    positionMode: positionMode().notNull(),
    /** Set where the whole account has one margin mode (Bybit); null where each token has its own. */
    marginMode: marginMode(),
    openedAt: instant('opened_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.platform] })],
);

export const paperTokenSettings = pgTable(
  'paper_token_settings',
  {
    userId: uuid('user_id').notNull(),
    platform: ofPlatform(),
    token: text('token').notNull(),
    leverage: integer('leverage').notNull(),
    marginMode: marginMode().notNull(),
    /** The mode set for this token only; null: the account's mode. */
    positionMode: positionMode(),
    /** The MarkSource cursor up to which the token's marks have been applied to this account. */
    markCursor: text('mark_cursor'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.platform, table.token] })],
);

export const paperOrders = pgTable(
  'paper_orders',
  {
    id: bigint('id', { mode: 'bigint' })
      .primaryKey()
      .generatedAlwaysAsIdentity({ startWith: '1300000000000000000' }),
    userId: uuid('user_id').notNull(),
    platform: ofPlatform(),
    token: text('token').notNull(),
    clientOrderId: text('client_order_id').notNull(),
    side: side('side'),
    type: text('order_type').$type<'limit' | 'market'>().notNull(),
    reduceOnly: boolean('reduce_only').notNull(),
    /** Null for market orders. */
    price: numeric('price'),
    size: numeric('size').notNull(),
    filledSize: numeric('filled_size').notNull().default('0'),
    filledValue: numeric('filled_value').notNull().default('0'),
    fee: numeric('fee').notNull().default('0'),
    profit: numeric('profit').notNull().default('0'),
    leverage: integer('leverage').notNull(),
    marginMode: marginMode().notNull(),
    positionMode: positionMode().notNull(),
    presetStopLoss: numeric('preset_stop_loss'),
    presetTakeProfit: numeric('preset_take_profit'),
    state: text('state').$type<'live' | 'partially_filled' | 'filled' | 'canceled'>().notNull(),
    source: text('source').$type<'normal' | Plan | 'liquidation'>().notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    index('paper_orders_pending')
      .on(table.token, table.userId)
      .where(sql`state in ('live', 'partially_filled')`),
    uniqueIndex('paper_orders_pending_client_order_id')
      .on(table.userId, table.platform, table.clientOrderId)
      .where(sql`state in ('live', 'partially_filled')`),
    index('paper_orders_client_order_id').on(table.userId, table.platform, table.clientOrderId),
    check('paper_orders_filled', sql`filled_size >= 0 and filled_size <= size`),
  ],
);

export const paperPositions = pgTable(
  'paper_positions',
  {
    userId: uuid('user_id').notNull(),
    platform: ofPlatform(),
    token: text('token').notNull(),
    side: positionSide('side'),
    size: numeric('size').notNull(),
    entryPrice: numeric('entry_price').notNull(),
    margin: numeric('margin').notNull(),
    leverage: integer('leverage').notNull(),
    marginMode: marginMode().notNull(),
    realisedProfit: numeric('realised_profit').notNull().default('0'),
    openedAt: instant('opened_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.platform, table.token] }),
    index('paper_positions_token').on(table.token),
    check('paper_positions_size', sql`size > 0`),
  ],
);

export const paperTriggerOrders = pgTable(
  'paper_trigger_orders',
  {
    id: bigint('id', { mode: 'bigint' })
      .primaryKey()
      .generatedAlwaysAsIdentity({ startWith: '1400000000000000000' }),
    userId: uuid('user_id').notNull(),
    platform: ofPlatform(),
    token: text('token').notNull(),
    clientOrderId: text('client_order_id').notNull(),
    planType: text('plan_type').$type<Plan | SizedPlan>().notNull(),
    holdSide: positionSide('hold_side'),
    triggerPrice: numeric('trigger_price').notNull(),
    size: numeric('size').notNull(),
    state: text('state').$type<'live' | 'executed' | 'cancelled'>().notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('paper_trigger_orders_live')
      .on(table.userId, table.platform, table.token, table.planType)
      .where(sql`state = 'live'`),
  ],
);

export const paperFills = pgTable(
  'paper_fills',
  {
    id: bigint('id', { mode: 'bigint' })
      .primaryKey()
      .generatedAlwaysAsIdentity({ startWith: '1500000000000000000' }),
    userId: uuid('user_id').notNull(),
    platform: ofPlatform(),
    token: text('token').notNull(),
    orderId: bigint('order_id', { mode: 'bigint' }).notNull(),
    side: side('side'),
    price: numeric('price').notNull(),
    size: numeric('size').notNull(),
    value: numeric('value').notNull(),
    fee: numeric('fee').notNull(),
    profit: numeric('profit').notNull(),
    liquidity: text('liquidity').$type<'maker' | 'taker'>().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('paper_fills_user').on(table.userId, table.platform, table.token, table.id)],
);
