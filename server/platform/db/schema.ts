import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  bigint,
  boolean,
  char,
  check,
  customType,
  date,
  doublePrecision,
  index,
  integer,
  jsonb,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
  varchar,
} from 'drizzle-orm/pg-core';
import type { ClosedBy } from '#domain/orders/closed-by.ts';
import type { HaltKind } from '#domain/orders/trading-halt.ts';

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });
const reference = (name: string, to: () => AnyPgColumn) => uuid(name).notNull().references(to);
const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' });

// ---- Accounts ------------------------------------------------------------------------------------------------

export const users = pgTable('users', {
  id: uuid('id').primaryKey(),
  username: text('username').notNull(),
  /** NFKC, lower case: the form in which usernames are compared. */
  usernameKey: text('username_key').notNull().unique(),
  passwordHash: text('password_hash').notNull(),
  firstName: text('first_name'),
  lastName: text('last_name'),
  countryCode: text('country_code'),
  mobileNumber: text('mobile_number'),
  isAdmin: boolean('is_admin').notNull().default(false),
  isActive: boolean('is_active').notNull().default(true),
  isTestUser: boolean('is_test_user').notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
});

export const userSettings = pgTable('user_settings', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id),
  calculationBehavior: text('calculation_behavior').notNull(),
  marketType: text('market_type').notNull(),
  positionSizingMethod: text('position_sizing_method').notNull(),
  investmentPortion: numeric('investment_portion'),
  maximumRiskPerTrade: numeric('maximum_risk_per_trade'),
  exchangePlatform: text('exchange_platform').notNull(),
  signalProcessor: text('signal_processor').notNull(),
  signalTimeframe: text('signal_timeframe').notNull(),
  activeTrading: boolean('active_trading').notNull(),
  tradingPausedUntil: instant('trading_paused_until'),
  tradeOrderSet: char('trade_order_set', { length: 1 }).notNull(),
  oppositeSignal: text('opposite_signal').$type<'reverse' | 'skip'>().notNull(),
  updatedAt: instant('updated_at').notNull(),
});

export const exchangeCredentials = pgTable(
  'exchange_credentials',
  {
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    apiKeyHint: text('api_key_hint').notNull(),
    sealed: text('sealed').notNull(),
    accountMode: text('account_mode').$type<'classic' | 'unified'>().notNull(),
    /** The mode for which the key was entered; null until the exchange has been asked about the key in a mode. */
    exchangeMode: text('exchange_mode').$type<'demo' | 'live'>(),
    /** The exchange's own id of the account; null until the exchange has reported it. */
    accountId: text('account_id'),
    /** Since when a key of this account is stored here; null in older rows, for which `updated_at` counts. */
    accountSince: instant('account_since'),
    /** When the exchange reported the key's permissions; null: not yet, so no orders are placed with it. */
    inspectedAt: instant('inspected_at'),
    /** Since when the key is not used, and why. */
    rejectedAt: instant('rejected_at'),
    rejectedReason: text('rejected_reason'),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.exchangePlatform] }),
    index('exchange_credentials_account').on(table.exchangePlatform, table.accountId),
  ],
);

export const sessions = pgTable(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    tokenHash: bytes('token_hash').notNull().unique(),
    userId: reference('user_id', () => users.id),
    createdAt: instant('created_at').notNull(),
    lastSeenAt: instant('last_seen_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** Until then this session sees the whole webhook key. */
    keyRevealedUntil: instant('key_revealed_until'),
  },
  (table) => [index('sessions_user').on(table.userId)],
);

/** Managed by rate-limiter-flexible. */
export const rateLimits = pgTable('rate_limits', {
  key: varchar('key', { length: 255 }).primaryKey(),
  points: integer('points').notNull().default(0),
  expire: bigint('expire', { mode: 'number' }),
});

/** Password guesses from addresses where the account is not known, in the last quarter hour. */
export const passwordGuesses = pgTable(
  'password_guesses',
  {
    /** SHA-256 of the compared form of the username, which need not exist. */
    account: bytes('account').primaryKey(),
    /** Milliseconds since 1970, oldest first. */
    guessedAt: bigint('guessed_at', { mode: 'number' }).array().notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('password_guesses_expiry').on(table.expiresAt)],
);

/** Addresses where a user recently gave the right password. */
export const knownAddresses = pgTable(
  'known_addresses',
  {
    userId: reference('user_id', () => users.id),
    /** An IPv4 address or IPv6 network. In plain text, like the addresses of deliveries; a user may look at them. */
    address: text('address').notNull(),
    lastUsedAt: instant('last_used_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.address] })],
);

// ---- Deliveries ----------------------------------------------------------------------------------------------

export const hooks = pgTable('hooks', {
  id: uuid('id').primaryKey(),
  /** One webhook per user. */
  userId: uuid('user_id')
    .notNull()
    .unique()
    .references(() => users.id),
  name: text('name').notNull(),
  keyHash: bytes('key_hash').notNull().unique(),
  keySealed: text('key_sealed').notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
  lastUsedAt: instant('last_used_at'),
  /** Since when an administrator keeps it shut. An inactive owner also shuts it, without an entry here. */
  suspendedAt: instant('suspended_at'),
});

/*
 * deliveries and price_logs are described here as ordinary tables; the baseline makes them partitioned by month of
 * their ids (partitions.ts). An index, a column or a check that a migration adds later reaches every partition; a
 * unique key other than of the id is impossible.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    id: uuid('id').primaryKey(),
    hookId: uuid('hook_id').notNull(),
    kind: text('kind').$type<'signal' | 'candle'>().notNull(),
    result: text('result').$type<'stored' | 'duplicate' | 'refused' | 'limited'>().notNull(),
    reason: text('reason'),
    sourceIp: text('source_ip').notNull(),
    recordId: uuid('record_id'),
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [index('deliveries_hook').on(table.hookId, table.id)],
);

/** The columns that signals and price logs have in common. */
const deliveredColumns = {
  id: uuid('id').primaryKey(),
  hookId: uuid('hook_id').notNull(),
  ownerUserId: uuid('owner_user_id').notNull(),
  /** The owner was an administrator when it arrived: such data counts for everyone. */
  fromAdmin: boolean('from_admin').notNull(),
  token: text('token').notNull(),
  timeframe: text('timeframe').notNull(),
  price: numeric('price').notNull(),
  currency: text('currency').notNull(),
  receivedAt: instant('received_at').notNull(),
  sourceIp: text('source_ip').notNull(),
  /** Not unique in price_logs, because partitions cannot have such a key: price_log_hashes decides what is known. */
  hashValue: text('hash_value').notNull(),
  parameters: jsonb('parameters').$type<Record<string, unknown>>().notNull(),
};

export const priceLogs = pgTable(
  'price_logs',
  {
    ...deliveredColumns,
    processor: text('processor'),
    candleTimeTradingview: text('candle_time_tradingview').notNull(),
    candleTimeServer: instant('candle_time_server').notNull(),
  },
  ({ id, token, timeframe, processor, receivedAt, candleTimeServer }) => [
    // For lists: a filter's value, the list's order, then the other filters, so that an index decides what is shown.
    index('price_logs_list').on(receivedAt, id, token, timeframe, processor),
    index('price_logs_list_token').on(token, receivedAt, id, timeframe, processor),
    index('price_logs_list_timeframe').on(timeframe, receivedAt, id, token, processor),
    index('price_logs_list_processor').on(processor, receivedAt, id, token, timeframe),
    // For charts, and to find the candle of a signal.
    index('price_logs_series').on(token, timeframe, candleTimeServer),
    index('price_logs_mark').on(token, id),
  ],
);

/**
 * Maps a hash to its price log, in whichever partition: a candle with a known hash is a permanent duplicate. A row is
 * deleted when the partition of its price log is dropped, found by an index that costs a new row nothing.
 */
export const priceLogHashes = pgTable(
  'price_log_hashes',
  {
    hashValue: bytes('hash_value').primaryKey(),
    priceLogId: uuid('price_log_id').notNull(),
  },
  (table) => [index('price_log_hashes_log').using('brin', table.priceLogId)],
);

export const signals = pgTable(
  'signals',
  {
    ...deliveredColumns,
    action: text('action').$type<'buy' | 'sell'>().notNull(),
    processor: text('processor').notNull(),
    signalTimeTradingview: text('signal_time_tradingview'),
    signalTimeServer: instant('signal_time_server'),
  },
  ({ id, token, timeframe, processor, action, receivedAt }) => [
    index('signals_list').on(receivedAt, id, token, timeframe, processor, action),
    index('signals_list_token').on(token, receivedAt, id, timeframe, processor, action),
    index('signals_list_timeframe').on(timeframe, receivedAt, id, token, processor, action),
    index('signals_list_processor').on(processor, receivedAt, id, token, timeframe, action),
    index('signals_mark').on(token, id),
  ],
);

/** Maps a hash to its signal: under concurrency and across instances, the row decides what is a duplicate. */
export const signalHashes = pgTable('signal_hashes', {
  hashValue: text('hash_value').primaryKey(),
  signalId: uuid('signal_id').notNull(),
  receivedAt: instant('received_at').notNull(),
  /** The payload carries a time: the hash is taken permanently, not for a minute. */
  lasting: boolean('lasting').notNull(),
});

// ---- Totals of the long lists --------------------------------------------------------------------------------

/** The id before which the rows of each list are added up in the tables below. The rest is counted on request. */
export const countedLists = pgTable('counted_lists', {
  list: text('list').primaryKey(),
  countedBefore: uuid('counted_before').notNull(),
  /** How far the slowest clock that makes ids was last seen behind the database's, and when; 0: not noticeably. */
  clockLagMs: bigint('clock_lag_ms', { mode: 'number' }).notNull().default(0),
  clockLagSeenAt: instant('clock_lag_seen_at'),
});

/** A list has only some of these columns; missing columns and nulls are ''. */
const countedColumns = {
  list: text('list').notNull(),
  token: text('token').notNull(),
  action: text('action').notNull(),
  processor: text('processor').notNull(),
  timeframe: text('timeframe').notNull(),
  status: text('status').notNull(),
};

export const listTotals = pgTable(
  'list_totals',
  { ...countedColumns, rows: bigint('rows', { mode: 'number' }).notNull() },
  ({ list, token, action, processor, timeframe, status }) => [
    primaryKey({ name: 'list_totals_pk', columns: [list, token, action, processor, timeframe, status] }),
  ],
);

/** The same by month (UTC) of receipt: the totals as of an instant long ago. */
export const listTotalsByMonth = pgTable(
  'list_totals_by_month',
  { month: date('month').notNull(), ...countedColumns, rows: bigint('rows', { mode: 'number' }).notNull() },
  ({ month, list, token, action, processor, timeframe, status }) => [
    primaryKey({
      name: 'list_totals_by_month_pk',
      columns: [list, month, token, action, processor, timeframe, status],
    }),
  ],
);

/** Signals by quarter of an hour of receipt: days of every time zone consist of these. */
export const signalTotalsByQuarter = pgTable(
  'signal_totals_by_quarter',
  {
    since: instant('since').notNull(),
    action: text('action').notNull(),
    rows: bigint('rows', { mode: 'number' }).notNull(),
  },
  ({ since, action }) => [primaryKey({ columns: [since, action] })],
);

/**
 * How often each value of a column came, and from whom: the choices of filters and settings. `audience` is the owner of
 * the webhook, or the zero id for everything that administrators sent. Added up like the totals.
 */
export const listChoices = pgTable(
  'list_choices',
  {
    list: text('list').notNull(),
    column: text('column').notNull(),
    audience: uuid('audience').notNull(),
    value: text('value').notNull(),
    rows: bigint('rows', { mode: 'number' }).notNull(),
  },
  ({ list, column, audience, value, rows }) => [
    primaryKey({ name: 'list_choices_pk', columns: [list, column, audience, value] }),
    index('list_choices_most').on(list, column, audience, rows.desc().nullsFirst(), value),
  ],
);

// ---- Automation ----------------------------------------------------------------------------------------------

export const workflows = pgTable(
  'workflows',
  {
    id: uuid('id').primaryKey(),
    signalId: reference('signal_id', () => signals.id),
    trigger: text('trigger').$type<'automatic' | 'manual'>().notNull(),
    triggerReason: text('trigger_reason'),
    status: text('status').$type<'pending' | 'processing' | 'completed' | 'failed' | 'aborted'>().notNull(),
    token: text('token').notNull(),
    processor: text('processor').notNull(),
    createdAt: instant('created_at').notNull(),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    eligibleUsersCount: integer('eligible_users_count').notNull().default(0),
    successfulUsersCount: integer('successful_users_count').notNull().default(0),
    errorMessage: text('error_message'),
    errorDetails: jsonb('error_details').$type<{
      failureType: string;
      userFriendlyExplanation: string;
      suggestedAction: string;
    }>(),
    /** Tries of the pipeline that ended in an unexpected error; the third one fails the workflow. */
    failedTries: integer('failed_tries').notNull().default(0),
    /** Of a user's own signal, only for that user: it waits for the token behind the signals for everybody. */
    isOwn: boolean('is_own').notNull().default(false),
  },
  (table) => [
    index('workflows_list').on(table.createdAt, table.id, table.processor, table.status),
    index('workflows_list_processor').on(table.processor, table.createdAt, table.id, table.status),
    index('workflows_list_status').on(table.status, table.createdAt, table.id, table.processor),
    index('workflows_signal').on(table.signalId, table.id),
    // I2: one automatic workflow per signal, and never two running ones.
    uniqueIndex('workflows_one_automatic').on(table.signalId).where(sql`trigger = 'automatic'`),
    uniqueIndex('workflows_one_running').on(table.signalId).where(sql`status in ('pending', 'processing')`),
    index('workflows_waiting')
      .on(table.token, table.isOwn, table.id)
      .where(sql`status in ('pending', 'processing')`),
  ],
);

/** One row per token: the workflow that may trade it now. */
export const processingSlots = pgTable('processing_slots', {
  token: text('token').primaryKey(),
  workflowId: uuid('workflow_id').notNull(),
  acquiredAt: instant('acquired_at').notNull(),
});

export const workflowSteps = pgTable(
  'workflow_steps',
  {
    id: uuid('id').primaryKey(),
    workflowId: reference('workflow_id', () => workflows.id),
    stepNumber: integer('step_number').notNull(),
    stepName: text('step_name').notNull(),
    stepType: text('step_type').notNull(),
    userId: uuid('user_id'),
    status: text('status')
      .$type<'pending' | 'processing' | 'completed' | 'failed' | 'aborted' | 'skipped'>()
      .notNull(),
    inputData: jsonb('input_data'),
    outputData: jsonb('output_data'),
    metadata: jsonb('metadata'),
    errorMessage: text('error_message'),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    executionTimeMs: integer('execution_time_ms'),
    processorName: text('processor_name'),
  },
  (table) => [uniqueIndex('workflow_steps_number').on(table.workflowId, table.stepNumber)],
);

/** The eligibility snapshot of step 6, and the outcome of each eligible user. */
export const workflowUsers = pgTable(
  'workflow_users',
  {
    workflowId: reference('workflow_id', () => workflows.id),
    userId: uuid('user_id').notNull(),
    username: text('username').notNull(),
    /** Place in the order of trading, from 0; null for users who are not eligible. */
    position: integer('position'),
    status: text('status').$type<'eligible' | 'not eligible'>().notNull(),
    reason: text('reason').notNull(),
    rule: text('rule').notNull(),
    saw: text('saw').notNull(),
    wanted: text('wanted').notNull(),
    layer: integer('layer'),
    outcome: text('outcome').$type<'waiting' | 'running' | 'success' | 'skipped' | 'failed'>(),
    failedTries: integer('failed_tries').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.workflowId, table.userId] }),
    index('workflow_users_order').on(table.workflowId, table.position),
  ],
);

/** What was decided on each user of a workflow, with everything the decision saw. */
export const decisions = pgTable(
  'decisions',
  {
    workflowId: reference('workflow_id', () => workflows.id),
    userId: uuid('user_id').notNull(),
    record: jsonb('record').$type<Record<string, unknown>>().notNull(),
    /** A keyed hash of each field of the record. */
    seals: jsonb('seals').$type<Record<string, string>>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.workflowId, table.userId] })],
);

// ---- Positions and orders ------------------------------------------------------------------------------------

/** One record per calculation, successful or not. */
export const positionGeneratorLogs = pgTable(
  'position_generator_logs',
  {
    id: uuid('id').primaryKey(),
    signalId: reference('signal_id', () => signals.id),
    priceLogId: uuid('price_log_id'),
    userId: reference('user_id', () => users.id),
    workflowId: uuid('workflow_id'),
    profile: text('profile').$type<'manual' | 'automatic'>().notNull(),
    exchangePlatform: text('exchange_platform').notNull(),
    token: text('token').notNull(),
    success: boolean('success').notNull(),
    /** Sized with an invented balance: shown, never traded. */
    isEstimate: boolean('is_estimate').notNull().default(false),
    error: text('error'),
    /** The domain's complete Position. */
    position: jsonb('position').$type<unknown>(),
    settings: jsonb('settings').$type<unknown>().notNull(),
    calculationReason: text('calculation_reason'),
    calculationDetail: text('calculation_detail'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('position_generator_logs_signal').on(table.signalId, table.id),
    uniqueIndex('position_generator_logs_workflow_user').on(table.workflowId, table.userId),
  ],
);

/** The last reported balance of an account: the calculator uses it for a minute when the next reading fails. */
export const accountBalances = pgTable(
  'account_balances',
  {
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    /** In USDT, as reported by the exchange. */
    futuresAvailable: numeric('futures_available').notNull(),
    readAt: instant('read_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.exchangePlatform] })],
);

/**
 * Accounts read before a signal was expected, without a position in the token: for some seconds the reading stands in for
 * one that an order would wait for.
 */
export const accountReadings = pgTable(
  'account_readings',
  {
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    token: text('token').notNull(),
    /** The exchange's own id of the account; null where it reports none. */
    accountId: text('account_id'),
    /** In USDT, as reported by the exchange. */
    futuresAvailable: numeric('futures_available').notNull(),
    /** When the request was made: what happened later may be missing. */
    readAt: instant('read_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.exchangePlatform, table.token] })],
);

/** One task of the position maker: at most one per calculation, and one per workflow and user. */
export const trades = pgTable(
  'trades',
  {
    id: uuid('id').primaryKey(),
    positionGeneratorLogId: uuid('position_generator_log_id')
      .notNull()
      .unique()
      .references(() => positionGeneratorLogs.id),
    workflowId: uuid('workflow_id'),
    signalId: reference('signal_id', () => signals.id),
    userId: reference('user_id', () => users.id),
    triggerType: text('trigger_type').$type<'automatic' | 'manual'>().notNull(),
    profile: text('profile').$type<'manual' | 'automatic'>().notNull(),
    exchangePlatform: text('exchange_platform').notNull(),
    token: text('token').notNull(),
    side: text('side').$type<'buy' | 'sell'>().notNull(),
    plannedQuantity: numeric('planned_quantity').notNull(),
    entryPrice: numeric('entry_price').notNull(),
    stopLoss: numeric('stop_loss').notNull(),
    takeProfit: numeric('take_profit').notNull(),
    leverage: integer('leverage').notNull(),
    /** Reduces the account's available balance while the exchange does not know the order yet. */
    plannedMargin: numeric('planned_margin').notNull(),
    state: text('state').$type<'working' | 'protecting' | 'closing' | 'done'>().notNull(),
    success: boolean('success'),
    fillStatus: text('fill_status').$type<'filled' | 'partial' | 'unfilled' | 'unknown'>(),
    error: text('error'),
    orderId: text('order_id'),
    filledQuantity: numeric('filled_quantity').notNull().default('0'),
    averagePrice: numeric('average_price'),
    fee: numeric('fee'),
    protectionStatus: text('protection_status').$type<'verified' | 'repaired' | 'closed' | 'missing'>(),
    exchangeResponse: jsonb('exchange_response').$type<unknown>(),
    createdAt: instant('created_at').notNull(),
    completedAt: instant('completed_at'),
    /** When the next step is due; a wait is a row in the database, never only a timer. */
    dueAt: instant('due_at'),
    /** When the position that it opened was found closed; null while it may be open. */
    positionClosedAt: instant('position_closed_at'),
    /** Since when its position is known to be open without a verified stop; null when there is no such doubt. */
    unprotectedSince: instant('unprotected_since'),
    /** The quantity for which the exchange was last seen to hold a stop; null before that was read. */
    protectedQuantity: numeric('protected_quantity'),
    /** Where its orders are looked up: answers of another mode or account prove nothing. */
    exchangeMode: text('exchange_mode').$type<'paper' | 'demo' | 'live'>(),
    exchangeAccountId: text('exchange_account_id'),
    /** The administrator who ended the trade although the fate of its order is unknown. */
    writtenOffBy: uuid('written_off_by').references(() => users.id),
    writtenOffAt: instant('written_off_at'),
    /** In progress at a restore of the database: orders it may have sent since are looked up, and no more are sent. */
    restoredAt: instant('restored_at'),
    /** When its account was read, if that was before the signal; null: it was read for the order. */
    accountReadAt: instant('account_read_at'),
  },
  (table) => [
    uniqueIndex('trades_workflow_user').on(table.workflowId, table.userId),
    index('trades_signal').on(table.signalId, table.id),
    index('trades_created').on(table.createdAt),
    index('trades_user_token').on(table.userId, table.token),
    index('trades_unfinished').on(table.dueAt).where(sql`state <> 'done'`),
    index('trades_position_open')
      .on(table.userId, table.token)
      .where(sql`position_closed_at is null and (state <> 'done' or fill_status in ('filled', 'partial'))`),
  ],
);

/** One order at the exchange. The row is committed before the request is sent (write, then call). */
export const orderAttempts = pgTable(
  'order_attempts',
  {
    id: uuid('id').primaryKey(),
    tradeId: reference('trade_id', () => trades.id),
    attempt: integer('attempt').notNull(),
    clientOrderId: text('client_order_id').notNull().unique(),
    price: numeric('price').notNull(),
    quantity: numeric('quantity').notNull(),
    state: text('state').notNull(),
    orderId: text('order_id'),
    filledQuantity: numeric('filled_quantity').notNull().default('0'),
    averagePrice: numeric('average_price'),
    fee: numeric('fee'),
    error: text('error'),
    /** When a request was about to leave, null if none ever was; and how many look-ups have missed it since. */
    submittedAt: instant('submitted_at'),
    lookupMisses: integer('lookup_misses').notNull().default(0),
    placementTries: integer('placement_tries').notNull().default(0),
    /** Why no answer of the exchange settles it: an administrator may write it off. Null while an answer still may. */
    doubt: text('doubt'),
    verifyAt: instant('verify_at'),
    cancelRequestedAt: instant('cancel_requested_at'),
    finishedAt: instant('finished_at'),
    orderPayload: jsonb('order_payload').$type<unknown>(),
    raw: jsonb('raw').$type<unknown>(),
  },
  (table) => [uniqueIndex('order_attempts_number').on(table.tradeId, table.attempt)],
);

/** The events of a trade, in order: the API call sequence and the timeline of the result dialog. */
export const tradeEvents = pgTable(
  'trade_events',
  {
    id: uuid('id').primaryKey(),
    tradeId: reference('trade_id', () => trades.id),
    at: instant('at').notNull(),
    kind: text('kind').$type<'call' | 'timeline'>().notNull(),
    text: text('text').notNull(),
    data: jsonb('data').$type<unknown>(),
  },
  (table) => [index('trade_events_trade').on(table.tradeId, table.id)],
);

/** Orders that close own positions, written before they are sent: reversals, lost protection, an operator's button. */
export const positionCloses = pgTable(
  'position_closes',
  {
    id: uuid('id').primaryKey(),
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    token: text('token').notNull(),
    side: text('side').$type<'long' | 'short'>().notNull(),
    quantity: numeric('quantity').notNull(),
    reason: text('reason').notNull(),
    workflowId: uuid('workflow_id'),
    tradeId: uuid('trade_id'),
    clientOrderId: text('client_order_id').notNull().unique(),
    state: text('state').$type<'submitting' | 'sent' | 'closed' | 'refused'>().notNull(),
    orderId: text('order_id'),
    averagePrice: numeric('average_price'),
    error: text('error'),
    /** The operator who requested it; null for the engine. */
    requestedBy: uuid('requested_by').references(() => users.id),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
  },
  (table) => [index('position_closes_user').on(table.userId, table.token, table.id)],
);

/** Own positions that have ended, kept because an exchange forgets them after some months. */
export const closedPositions = pgTable(
  'closed_positions',
  {
    id: uuid('id').primaryKey(),
    tradeId: reference('trade_id', () => trades.id),
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    /** The exchange's id of the position; null while it is only known that the position is gone. */
    exchangePositionId: text('exchange_position_id'),
    token: text('token').notNull(),
    side: text('side').$type<'long' | 'short'>().notNull(),
    quantity: numeric('quantity').notNull(),
    entryPrice: numeric('entry_price').notNull(),
    closePrice: numeric('close_price'),
    /** In USDT, before fees, funding included. */
    realisedProfit: numeric('realised_profit'),
    /** The costs of opening and closing, in USDT. */
    fees: numeric('fees'),
    closedBy: text('closed_by').$type<ClosedBy>().notNull(),
    openedAt: instant('opened_at').notNull(),
    closedAt: instant('closed_at').notNull(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (table) => [
    uniqueIndex('closed_positions_exchange').on(
      table.userId,
      table.exchangePlatform,
      table.exchangePositionId,
    ),
    uniqueIndex('closed_positions_untold').on(table.tradeId).where(sql`exchange_position_id is null`),
    index('closed_positions_closed').on(table.closedAt, table.id),
    index('closed_positions_user').on(table.userId, table.closedAt),
    index('closed_positions_list_token').on(table.token, table.closedAt, table.id),
  ],
);

/** The sums of closed positions, in USDT, maintained by a trigger of their table. */
export const closedPositionTotals = pgTable(
  'closed_position_totals',
  {
    userId: reference('user_id', () => users.id),
    token: text('token').notNull(),
    positions: bigint('positions', { mode: 'number' }).notNull(),
    realisedProfit: numeric('realised_profit').notNull(),
    fees: numeric('fees').notNull(),
    /** After fees, for positions whose profit is known. */
    profitAfterFees: numeric('profit_after_fees').notNull(),
  },
  (table) => [
    primaryKey({ name: 'closed_position_totals_pk', columns: [table.userId, table.token] }),
    index('closed_position_totals_token').on(table.token),
  ],
);

/**
 * A user who opens no more positions, because a position without a verified stop could not be closed either. One row
 * per position and halt; a user is halted while one of them has not ended.
 */
export const tradingHalts = pgTable(
  'trading_halts',
  {
    id: uuid('id').primaryKey(),
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    token: text('token').notNull(),
    tradeId: uuid('trade_id').references(() => trades.id),
    kind: text('kind').$type<HaltKind>().notNull(),
    reason: text('reason').notNull(),
    since: instant('since').notNull(),
    /** When the exchange first showed the position closed or protected again, and how. */
    clearedAt: instant('cleared_at'),
    clearedHow: text('cleared_how'),
    endedAt: instant('ended_at'),
    /** The administrator who resumed trading; null while the halt lasts, or when it ended automatically. */
    endedBy: uuid('ended_by').references(() => users.id),
  },
  (table) => [
    uniqueIndex('trading_halts_one_a_position')
      .on(table.userId, table.exchangePlatform, table.token)
      .where(sql`ended_at is null`),
    index('trading_halts_ended').on(table.endedAt),
  ],
);

// ---- The engine ----------------------------------------------------------------------------------------------

/** The workers of every instance on the database, one row each; kept alive by their heartbeat. */
export const engineWorkers = pgTable(
  'engine_workers',
  {
    instanceId: text('instance_id').notNull(),
    workerId: text('worker_id').notNull(),
    isActive: boolean('is_active').notNull(),
    currentTasks: integer('current_tasks').notNull(),
    maxConcurrent: integer('max_concurrent').notNull(),
    processedTasks: bigint('processed_tasks', { mode: 'number' }).notNull(),
    lastActivity: instant('last_activity'),
    startedAt: instant('started_at').notNull(),
    heartbeatAt: instant('heartbeat_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.instanceId, table.workerId] })],
);

/** Requested restarts: every instance looks here, and reports its result below. */
export const engineRestarts = pgTable(
  'engine_restarts',
  {
    id: bigint('id', { mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    requestedBy: reference('requested_by', () => users.id),
    requestedAt: instant('requested_at').notNull(),
    finishedAt: instant('finished_at'),
  },
  () => [
    uniqueIndex('engine_restarts_one_running').on(sql`(finished_at is null)`).where(sql`finished_at is null`),
  ],
);

export const engineRestartAnswers = pgTable(
  'engine_restart_answers',
  {
    restartId: bigint('restart_id', { mode: 'number' })
      .notNull()
      .references(() => engineRestarts.id),
    instanceId: text('instance_id').notNull(),
    /** Why it failed; null when the engine runs again. */
    error: text('error'),
    answeredAt: instant('answered_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.restartId, table.instanceId] })],
);

/**
 * Who works on what, until when, by the database's clock. Every change of holder takes the next version, across
 * all keys: it fences a holder that slept through its lease, even after the row was deleted and created again.
 */
export const leases = pgTable('leases', {
  key: text('key').primaryKey(),
  holder: text('holder').notNull(),
  version: bigint('version', { mode: 'number' }).generatedByDefaultAsIdentity(),
  leaseUntil: instant('lease_until').notNull(),
});

// ---- Exchange state shared by all instances, worthless after a crash: unlogged --------------------------------

/** The used part of an exchange's limits, in milliseconds of the database's clock. */
export const exchangeSlots = pgTable('exchange_slots', {
  key: text('key').primaryKey(),
  /** For an address: until when its requests are spread. */
  nextAtMs: doublePrecision('next_at_ms').notNull().default(0),
  /** For a user's endpoint: when the last requests left. */
  takenMs: doublePrecision('taken_ms').array().notNull().default([]),
  /** No request passes before this: the exchange reported too many. */
  heldUntilMs: doublePrecision('held_until_ms').notNull().default(0),
  /** Length of the hold, over when a probe has passed and this is 0. See `server/exchanges/limits/rate-holds.ts`. */
  holdMs: doublePrecision('hold_ms').notNull().default(0),
  holdNamed: boolean('hold_named').notNull().default(false),
  probeUntilMs: doublePrecision('probe_until_ms').notNull().default(0),
  doubtedBy: text('doubted_by'),
});

/** Leverage and margin mode that were recently set and read back. */
export const exchangePreparations = pgTable(
  'exchange_preparations',
  {
    platform: text('platform').notNull(),
    userId: text('user_id').notNull(),
    token: text('token').notNull(),
    leverage: integer('leverage').notNull(),
    /** Identifies the API key: another key may belong to another account. */
    keyHash: text('key_hash').notNull(),
    preparedAt: instant('prepared_at').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.platform, table.userId, table.token] })],
);

/** One row: identifies the SECRET_KEY that seals the secrets in this database. */
export const secretKeyChecks = pgTable(
  'secret_key_checks',
  {
    isOnly: boolean('is_only').primaryKey().default(true),
    /** Tells the key from another one and reveals nothing else. Null: the next start may bring any key. */
    keyCheck: bytes('key_check'),
  },
  (table) => [check('secret_key_checks_one', sql`${table.isOnly}`)],
);
