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
import type { AuditAction, AuditActorKind, AuditSubjectKind, AuditValues } from '#contract/audit.ts';
import type { NoticeCode, NoticeData, NoticeSubject, Severity } from '#contract/notices.ts';
import type { ChannelKind } from '#contract/notification-channels.ts';
import type { TokenScope } from '#contract/tokens.ts';
import type { ExitPlan } from '#domain/exits/exit-plan.ts';
import type { PlannedExits } from '#domain/exits/plan-exits.ts';
import type { SignalAction } from '#domain/exits/signal-action.ts';
import type { RiskLimits, RiskScope, StoppingLimit } from '#domain/limits/risk-limits.ts';
import type { LimitUse, Peak } from '#domain/limits/stopping-limits.ts';
import type { ClosedBy } from '#domain/orders/closed-by.ts';
import type { HaltKind } from '#domain/orders/trading-halt.ts';
import type { StopKind } from '#domain/orders/trading-stop.ts';
import type { CanarySettings, CanaryState } from '#domain/workflow/canary.ts';
import type { OutcomeKind } from '#domain/workflow/outcome-kinds.ts';

/** Two of them stand for what becomes of all users of a workflow, and of a trade. */
export type EventCode = NoticeCode | 'workflow_ended' | 'trade_ended';

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3, mode: 'date' });
const reference = (name: string, to: () => AnyPgColumn) => uuid(name).notNull().references(to);
/** A workflow that has no end yet has no outcome either. */
type StoredOutcome = Exclude<OutcomeKind, 'running'>;
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
    /** When the key ends, as far as the exchange says. */
    keyExpiresAt: instant('key_expires_at'),
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
    /** Until then this session may do what needs a step-up. */
    stepUpUntil: instant('step_up_until'),
    /** From where it was opened; null in older rows. */
    address: text('address'),
    userAgent: text('user_agent'),
  },
  (table) => [index('sessions_user').on(table.userId)],
);

/** A sign-in whose password was right and whose second factor is still missing. */
export const halfSignIns = pgTable(
  'half_sign_ins',
  {
    tokenHash: bytes('token_hash').primaryKey(),
    userId: reference('user_id', () => users.id),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('half_sign_ins_user').on(table.userId)],
);

/** One authenticator app a user; without `confirmed_at` it is still being set up. */
export const totpFactors = pgTable('totp_factors', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id),
  secretSealed: text('secret_sealed').notNull(),
  createdAt: instant('created_at').notNull(),
  confirmedAt: instant('confirmed_at'),
  /** The time step of the last accepted code: no code of it or of an earlier one is accepted again. */
  lastStep: bigint('last_step', { mode: 'number' }),
});

export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    userId: reference('user_id', () => users.id),
    codeHash: bytes('code_hash').notNull(),
    usedAt: instant('used_at'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.codeHash] })],
);

export const passkeys = pgTable(
  'passkeys',
  {
    id: uuid('id').primaryKey(),
    userId: reference('user_id', () => users.id),
    name: text('name').notNull(),
    credentialId: text('credential_id').notNull().unique(),
    publicKey: bytes('public_key').notNull(),
    counter: bigint('counter', { mode: 'number' }).notNull(),
    transports: text('transports').array().notNull(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('passkeys_user').on(table.userId)],
);

/** Challenges that a passkey has to answer, each once. */
export const passkeyChallenges = pgTable('passkey_challenges', {
  challenge: text('challenge').primaryKey(),
  purpose: text('purpose').$type<'enrol' | 'sign-in' | 'step-up'>().notNull(),
  /** Whose challenge it is; null while nobody has signed in. */
  userId: uuid('user_id').references(() => users.id),
  expiresAt: instant('expires_at').notNull(),
});

export const apiTokens = pgTable(
  'api_tokens',
  {
    id: uuid('id').primaryKey(),
    userId: reference('user_id', () => users.id),
    name: text('name').notNull(),
    tokenHash: bytes('token_hash').notNull().unique(),
    hint: text('hint').notNull(),
    scopes: text('scopes').array().$type<TokenScope[]>().notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at'),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('api_tokens_user').on(table.userId)],
);

/** Who did what. Rows are only added; `sequence` and `chain_hash` follow within a second. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: uuid('id').primaryKey(),
    sequence: bigint('sequence', { mode: 'number' }).unique(),
    at: instant('at').notNull(),
    actorKind: text('actor_kind').$type<AuditActorKind>().notNull(),
    /** The user, or the owner of the API token; no reference, so that a row outlives whom it names. */
    actorId: uuid('actor_id'),
    /** The user name, the token's name, the command, or the part of the program. */
    actorName: text('actor_name').notNull(),
    address: text('address'),
    action: text('action').$type<AuditAction>().notNull(),
    subjectKind: text('subject_kind').$type<AuditSubjectKind>(),
    subjectId: text('subject_id'),
    subjectName: text('subject_name'),
    before: jsonb('before').$type<AuditValues>(),
    after: jsonb('after').$type<AuditValues>(),
    requestId: text('request_id'),
    /** HMAC over all of the above without the sequence, made when the row was written. */
    rowMac: bytes('row_mac').notNull(),
    /** HMAC over the chain hash of the row before, the sequence and `row_mac`. */
    chainHash: bytes('chain_hash'),
  },
  (table) => [
    index('audit_log_unsealed').on(table.at).where(sql`sequence is null`),
    index('audit_log_at').on(table.at),
    index('audit_log_actor').on(table.actorId, table.at),
    index('audit_log_subject').on(table.subjectId, table.at),
  ],
);

/** The random key of the audit trail, sealed; one row. */
export const auditKeys = pgTable('audit_keys', {
  isOnly: boolean('is_only').primaryKey().default(true),
  keySealed: text('key_sealed').notNull(),
});

/** Managed by rate-limiter-flexible. */
export const rateLimits = pgTable('rate_limits', {
  key: varchar('key', { length: 255 }).primaryKey(),
  points: integer('points').notNull().default(0),
  expire: bigint('expire', { mode: 'number' }),
});

/** Recent guesses of passwords from addresses where the account is not known, and of codes. */
export const passwordGuesses = pgTable(
  'password_guesses',
  {
    /** SHA-256 of the compared form of the username, which need not exist; for codes also of where they came from. */
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
    /** Only in the row that counts what a webhook's minute had beyond the rows of its own; null elsewhere. */
    moreRefused: integer('more_refused'),
    moreLimited: integer('more_limited'),
    /** The beginning of a refused body, without secrets; only in the row of its own refusal. */
    refusedBody: text('refused_body'),
    /** Where the body stops being JSON, counted from 1; null where that is not its fault. */
    faultLine: integer('fault_line'),
    faultColumn: integer('fault_column'),
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
    action: text('action').$type<SignalAction>().notNull(),
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

/** What became of each signal whose shown workflow has ended, with the columns of its list. Kept by a trigger. */
export const signalOutcomes = pgTable(
  'signal_outcomes',
  {
    /** The signal's. */
    id: uuid('id').primaryKey(),
    receivedAt: instant('received_at').notNull(),
    token: text('token').notNull(),
    action: text('action').notNull(),
    processor: text('processor').notNull(),
    timeframe: text('timeframe').notNull(),
    outcome: text('outcome').$type<StoredOutcome>().notNull(),
  },
  ({ outcome, receivedAt, id, token, timeframe, processor, action }) => [
    index('signal_outcomes_list').on(outcome, receivedAt, id, token, timeframe, processor, action),
    index('signal_outcomes_list_token').on(outcome, token, receivedAt, id, timeframe, processor, action),
    index('signal_outcomes_list_timeframe').on(outcome, timeframe, receivedAt, id, token, processor, action),
    index('signal_outcomes_list_processor').on(outcome, processor, receivedAt, id, token, timeframe, action),
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

const outcomeCounts = {
  month: date('month').notNull(),
  ...countedColumns,
  outcome: text('outcome').$type<StoredOutcome>().notNull(),
};

/** The same of rows with an outcome, which may still change: kept by triggers. */
export const listOutcomeTotals = pgTable(
  'list_outcome_totals',
  { ...outcomeCounts, rows: bigint('rows', { mode: 'number' }).notNull() },
  ({ list, outcome, month, token, action, processor, timeframe, status }) => [
    primaryKey({
      name: 'list_outcome_totals_pk',
      columns: [list, outcome, month, token, action, processor, timeframe, status],
    }),
  ],
);

/** What is not yet in the totals: +1 and -1 for each change, so that writers never wait for one another. */
export const listOutcomeChanges = pgTable('list_outcome_changes', {
  ...outcomeCounts,
  rows: integer('rows').notNull(),
});

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
    /** Written at the end, with `topReason`. Null: not ended, or ended by a version that did not write it. */
    outcome: text('outcome').$type<StoredOutcome>(),
    failedUsersCount: integer('failed_users_count'),
    skippedUsersCount: integer('skipped_users_count'),
    topReason: text('top_reason'),
    /** Of the strategy when the users were selected; null: all of them trade at once. */
    canary: jsonb('canary').$type<CanarySettings>(),
    /** Null without a canary. */
    canaryState: text('canary_state').$type<CanaryState>(),
    /** When the first users must be filled and protected; written with the announcement of their first order. */
    canaryDueAt: instant('canary_due_at'),
    /** What happened to the first users when the canary failed. */
    canaryReason: text('canary_reason'),
  },
  (table) => [
    index('workflows_list').on(table.createdAt, table.id, table.processor, table.status),
    index('workflows_list_processor').on(table.processor, table.createdAt, table.id, table.status),
    index('workflows_list_status').on(table.status, table.createdAt, table.id, table.processor),
    index('workflows_list_token').on(table.token, table.createdAt, table.id, table.processor, table.status),
    index('workflows_list_outcome')
      .on(table.outcome, table.createdAt, table.id, table.token, table.processor, table.status)
      .where(sql`outcome is not null`),
    index('workflows_without_outcome')
      .on(table.id)
      .where(sql`outcome is null and status not in ('pending', 'processing')`),
    index('workflows_signal').on(table.signalId, table.id),
    // I2: one automatic workflow per signal, and never two running ones.
    uniqueIndex('workflows_one_automatic').on(table.signalId).where(sql`trigger = 'automatic'`),
    uniqueIndex('workflows_one_running').on(table.signalId).where(sql`status in ('pending', 'processing')`),
    index('workflows_waiting')
      .on(table.token, table.isOwn, table.id)
      .where(sql`status in ('pending', 'processing')`),
  ],
);

/** One row per token: the workflow that may trade it now; or, where users' own signals take turns, that did so last. */
export const processingSlots = pgTable('processing_slots', {
  token: text('token').primaryKey(),
  workflowId: uuid('workflow_id').notNull(),
  acquiredAt: instant('acquired_at').notNull(),
  /** The owner of the last own signal that had the token: the turn goes on from here. */
  lastOwnerId: uuid('last_owner_id'),
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

/** The newest price of a workflow's token at an exchange: one reading serves its users in all instances. */
export const workflowPrices = pgTable(
  'workflow_prices',
  {
    workflowId: reference('workflow_id', () => workflows.id),
    exchangePlatform: text('exchange_platform').notNull(),
    /** In USDT; null while none was read. */
    price: numeric('price'),
    /** By the database's clock: when it was asked for. */
    readAt: instant('read_at'),
    /** By the database's clock: an instance is reading it until then. */
    readingUntil: instant('reading_until').notNull().defaultNow(),
  },
  (table) => [primaryKey({ columns: [table.workflowId, table.exchangePlatform] })],
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
    /** Where its stop and target were moved to while the position is open; null: they are as calculated. */
    movedStopLoss: numeric('moved_stop_loss'),
    movedTakeProfit: numeric('moved_take_profit'),
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
    /** What was left open when part of a position was closed; null while that is not known, and where all was to be closed. */
    leftQuantity: numeric('left_quantity'),
    /** What the order was to leave open; null: nothing. */
    keepQuantity: numeric('keep_quantity'),
    /** The operator who requested it; null for the engine. */
    requestedBy: uuid('requested_by').references(() => users.id),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
  },
  (table) => [index('position_closes_user').on(table.userId, table.token, table.id)],
);

/** Requests to move the stop or target of an open position. The row is committed before anything is sent. */
export const protectionMoves = pgTable(
  'protection_moves',
  {
    id: uuid('id').primaryKey(),
    tradeId: reference('trade_id', () => trades.id),
    /** The new prices; null: it stays where it is. */
    stopLoss: numeric('stop_loss'),
    takeProfit: numeric('take_profit'),
    /** What the exchange held when it was requested. */
    oldStopLoss: numeric('old_stop_loss'),
    oldTakeProfit: numeric('old_take_profit'),
    /** `requested`: nothing was sent. `sent`: a request may have taken effect. */
    state: text('state').$type<'requested' | 'sent' | 'moved' | 'failed'>().notNull(),
    tries: integer('tries').notNull().default(0),
    /** How it ended, in words. */
    message: text('message'),
    /** The operator who requested it; null for an exit plan. */
    requestedBy: uuid('requested_by').references(() => users.id),
    /** What of an exit plan moves the stop; null for an operator. */
    exit: text('exit').$type<'break-even' | 'trail'>(),
    createdAt: instant('created_at').notNull(),
    finishedAt: instant('finished_at'),
  },
  (table) => [
    index('protection_moves_trade').on(table.tradeId, table.id),
    uniqueIndex('protection_moves_unfinished').on(table.tradeId).where(sql`state in ('requested', 'sent')`),
  ],
);

/** What happens after an entry: one row for a strategy or a user, whose own plan wins. */
export const exitPlans = pgTable(
  'exit_plans',
  {
    scopeKind: text('scope_kind').$type<'strategy' | 'user'>().notNull(),
    /** The strategy in the form in which strategies are compared, or the user's id. */
    scopeValue: text('scope_value').notNull(),
    plan: jsonb('plan').$type<ExitPlan>().notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.scopeKind, table.scopeValue] })],
);

/** The exit plan of a trade as it was at the entry, written by a trigger of trades; a later one is applied by hand. */
export const tradeExits = pgTable('trade_exits', {
  tradeId: uuid('trade_id')
    .primaryKey()
    .references(() => trades.id),
  plan: jsonb('plan').$type<ExitPlan>().notNull(),
  scopeKind: text('scope_kind').$type<'strategy' | 'user'>().notNull(),
  scopeValue: text('scope_value').notNull(),
  /** Counts the plans of the trade: part of the reason of their closing orders. */
  revision: integer('revision').notNull().default(1),
  /** Its prices and quantities; null until the entry is final. */
  planned: jsonb('planned').$type<PlannedExits>(),
  /** When the entry was final. */
  enteredAt: instant('entered_at'),
  /** Parts that are closed, from the first on. */
  partsDone: integer('parts_done').notNull().default(0),
  /** The best mark price since the entry, where the stop trails. */
  bestPrice: numeric('best_price'),
  /** Why the last step failed; null when none has since. */
  problem: text('problem'),
  /** Why the plan is not followed any more; null while it is. */
  ended: text('ended'),
});

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
    /** What funding brought (negative: cost), in USDT; part of `realised_profit`. Null where the exchange has not told it. */
    funding: numeric('funding'),
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

/** A position of ours as an account's reading showed it. Prices and money in USDT. */
export interface PositionFigures {
  tradeId: string;
  /** The strategy of its signal, in the form in which strategies are compared. */
  strategy: string;
  quantity: string;
  markPrice: string | null;
  stopLoss: string | null;
  openProfit: string;
}

/** What an account was worth at an instant, in USDT. Rows are only added: results and the daily loss are computed from them. */
export const equitySnapshots = pgTable(
  'equity_snapshots',
  {
    id: uuid('id').primaryKey(),
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    exchangeMode: text('exchange_mode').$type<'paper' | 'demo' | 'live'>().notNull(),
    at: instant('at').notNull(),
    /** The first of a day of the display zone, the first of an hour, or after the end of a position. */
    takenFor: text('taken_for').$type<'day' | 'hour' | 'trade'>().notNull(),
    equity: numeric('equity').notNull(),
    /** Equity less the open profit. */
    walletBalance: numeric('wallet_balance').notNull(),
    /** Of all positions of the account, those that were not opened here included. */
    openProfit: numeric('open_profit').notNull(),
    /** Deposits less withdrawals since the account was opened; null where the exchange does not report them. */
    netDeposits: numeric('net_deposits'),
    positions: jsonb('positions').$type<PositionFigures[]>().notNull(),
  },
  ({ userId, exchangePlatform, at, exchangeMode, equity }) => [
    index('equity_snapshots_account').on(userId, exchangePlatform, at),
    // Whole: curves are read from the index.
    index('equity_snapshots_hours')
      .on(userId, exchangePlatform, at, exchangeMode, equity)
      .where(sql`taken_for <> 'trade'`),
    index('equity_snapshots_days')
      .on(userId, exchangePlatform, at, exchangeMode, equity)
      .where(sql`taken_for = 'day'`),
  ],
);

/** What is known now of an account: its positions from its last reading, and its equity from the last snapshot. */
export const accountFigures = pgTable(
  'account_figures',
  {
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    exchangeMode: text('exchange_mode').$type<'paper' | 'demo' | 'live'>().notNull(),
    positions: jsonb('positions').$type<PositionFigures[]>().notNull(),
    /** When the request of the reading was made. */
    positionsAt: instant('positions_at').notNull(),
    /** In USDT; null before the first snapshot. */
    equity: numeric('equity'),
    equityAt: instant('equity_at'),
  },
  (table) => [primaryKey({ columns: [table.userId, table.exchangePlatform] })],
);

/** What was seen of a scope when its limits were last compared. Money in USDT. */
export interface WatchedFigures {
  /** What is not known of a user, by user id: a clause without a full stop. */
  unknown: Record<string, string>;
  uses: Partial<Record<StoppingLimit, LimitUse>>;
  /** Profit of the day; null when it was not computed. */
  dayProfit: string | null;
}

/** How far entries may go: one row for the program, a strategy or a user. An entry locks the rows that concern it. */
export const riskLimits = pgTable(
  'risk_limits',
  {
    scopeKind: text('scope_kind').$type<RiskScope['kind']>().notNull(),
    /** Empty for the program, the strategy in the form in which strategies are compared, or the user's id. */
    scopeValue: text('scope_value').notNull(),
    limits: jsonb('limits').$type<RiskLimits>().notNull(),
    /** Profits since then count for the drawdown, and closed positions since then for losses in a row. */
    drawdownSince: instant('drawdown_since').notNull(),
    lossesSince: instant('losses_since').notNull(),
    /** The profit of a day at which a breach was reset: only what is lost after it counts for the rest of that day. */
    dayReset: jsonb('day_reset').$type<{ at: string; profit: string }>(),
    peak: jsonb('peak').$type<Omit<Peak, 'at'> & { at: string }>(),
    watched: jsonb('watched').$type<WatchedFigures>(),
    watchedAt: instant('watched_at'),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.scopeKind, table.scopeValue] })],
);

/** Settings of a strategy: of the signals of one processor. */
export const strategies = pgTable('strategies', {
  /** In the form in which strategies are compared. */
  strategy: text('strategy').primaryKey(),
  /** Older signals are not traded; null: the limit of the program. */
  maxSignalAgeSeconds: integer('max_signal_age_seconds'),
  /** The first users trade before the others; null: all trade at once. */
  canary: jsonb('canary').$type<CanarySettings>(),
  /** Users of the same trading order take turns at being first. */
  rotation: boolean('rotation').notNull().default(false),
  /** The signals for which the order of trading was rotated. */
  rotations: integer('rotations').notNull().default(0),
  updatedAt: instant('updated_at').notNull(),
});

/** A limit that was reached and stops entries: until then, or until an administrator resets it. */
export const riskBreaches = pgTable(
  'risk_breaches',
  {
    id: uuid('id').primaryKey(),
    scopeKind: text('scope_kind').$type<RiskScope['kind']>().notNull(),
    scopeValue: text('scope_value').notNull(),
    limit: text('limit').$type<StoppingLimit>().notNull(),
    saw: text('saw').notNull(),
    maximum: text('maximum').notNull(),
    at: instant('at').notNull(),
    until: instant('until'),
    /** All positions of the scope were to be closed. */
    closes: boolean('closes').notNull(),
    endedAt: instant('ended_at'),
    /** The administrator who reset it; null when its time was over. */
    endedBy: uuid('ended_by').references(() => users.id),
  },
  (table) => [
    uniqueIndex('risk_breaches_one_open')
      .on(table.scopeKind, table.scopeValue, table.limit)
      .where(sql`ended_at is null`),
  ],
);

/** What makes up the key of a figure of results, apart from the user. */
const resultDetails = {
  processor: text('processor').notNull(),
  token: text('token').notNull(),
  timeframe: text('timeframe').notNull(),
  sizingMethod: text('sizing_method').notNull(),
  side: text('side').$type<'long' | 'short'>().notNull(),
};

/** What each closed position brought, maintained by triggers of closed_positions. The formulas are in docs/results.md. */
export const tradeResults = pgTable(
  'trade_results',
  {
    /** The id of the closed position. */
    id: uuid('id').primaryKey(),
    tradeId: uuid('trade_id').notNull(),
    userId: uuid('user_id').notNull(),
    ...resultDetails,
    openedAt: instant('opened_at').notNull(),
    closedAt: instant('closed_at').notNull(),
    /** In USDT. Whatever is null here is unknown. */
    net: numeric('net'),
    gross: numeric('gross'),
    fees: numeric('fees'),
    funding: numeric('funding'),
    plannedLoss: numeric('planned_loss'),
    r: numeric('r'),
    /** In basis points; positive: the fill was worse than the price of the signal, or than the planned entry. */
    slippageSignal: numeric('slippage_signal'),
    slippageEntry: numeric('slippage_entry'),
    holdingMs: bigint('holding_ms', { mode: 'number' }),
    rHistogram: numeric('r_histogram').notNull(),
    slippageSignalHistogram: numeric('slippage_signal_histogram').notNull(),
    slippageEntryHistogram: numeric('slippage_entry_histogram').notNull(),
    holdingHistogram: numeric('holding_histogram').notNull(),
  },
  (table) => [
    index('trade_results_closed').on(table.closedAt, table.id),
    index('trade_results_user').on(table.userId, table.closedAt, table.id),
    index('trade_results_net').on(table.net, table.id),
    index('trade_results_r').on(table.r, table.id),
  ],
);

/**
 * Sums of trade_results by hour, day and month (UTC) of closing, maintained by its triggers. `grain` says which of user
 * and details a row is for; the others are the zero id and ''. Partitioned by grain and span: each is read on its own.
 */
export const performanceTotals = pgTable(
  'performance_totals',
  {
    grain: text('grain').$type<'all' | 'user' | 'detail' | 'user detail'>().notNull(),
    span: text('span').$type<'hour' | 'day' | 'month'>().notNull(),
    userId: uuid('user_id').notNull(),
    since: instant('since').notNull(),
    ...resultDetails,
    trades: bigint('trades', { mode: 'number' }).notNull(),
    /** Counts of trades whose net, gross, fees, funding and R are known; each sum is over those. */
    knownNet: bigint('known_net', { mode: 'number' }).notNull(),
    knownGross: bigint('known_gross', { mode: 'number' }).notNull(),
    knownFees: bigint('known_fees', { mode: 'number' }).notNull(),
    knownFunding: bigint('known_funding', { mode: 'number' }).notNull(),
    knownR: bigint('known_r', { mode: 'number' }).notNull(),
    wins: bigint('wins', { mode: 'number' }).notNull(),
    losses: bigint('losses', { mode: 'number' }).notNull(),
    net: numeric('net').notNull(),
    won: numeric('won').notNull(),
    lost: numeric('lost').notNull(),
    gross: numeric('gross').notNull(),
    fees: numeric('fees').notNull(),
    funding: numeric('funding').notNull(),
    r: numeric('r').notNull(),
    /** Net and planned loss of the trades whose R is known. */
    riskedNet: numeric('risked_net').notNull(),
    plannedLoss: numeric('planned_loss').notNull(),
    best: numeric('best'),
    worst: numeric('worst'),
    holdingMs: numeric('holding_ms').notNull(),
    /** Counts by bin, eight decimal digits a bin: one addition adds all bins. See `domain/results/histograms.ts`. */
    rHistogram: numeric('r_histogram').notNull(),
    slippageSignalHistogram: numeric('slippage_signal_histogram').notNull(),
    slippageEntryHistogram: numeric('slippage_entry_histogram').notNull(),
    holdingHistogram: numeric('holding_histogram').notNull(),
  },
  ({ grain, span, userId, since, processor, token, timeframe, sizingMethod, side }) => [
    primaryKey({
      name: 'performance_totals_pk',
      columns: [grain, span, userId, since, processor, token, timeframe, sizingMethod, side],
    }),
    index('performance_totals_since').on(since),
    index('performance_totals_token').on(token, since),
  ],
);

/**
 * Net of each user's closed trades by day (UTC), of all of them and of each value of a detail, maintained by the triggers
 * of trade_results. Falls of users are measured at the ends of days: the rows of performance_totals are too wide for it.
 */
export const performanceDays = pgTable(
  'performance_days',
  {
    /** '' with the value '': all trades. */
    detail: text('detail').$type<'' | 'processor' | 'token' | 'timeframe' | 'sizingMethod'>().notNull(),
    value: text('value').notNull(),
    userId: uuid('user_id').notNull(),
    since: instant('since').notNull(),
    net: numeric('net').notNull(),
  },
  ({ detail, value, userId, since, net }) => [
    primaryKey({ name: 'performance_days_pk', columns: [detail, value, userId, since] }),
    // With the net, so that falls read the index alone.
    index('performance_days_falls').on(detail, value, userId, since, net),
  ],
);

/** What the exchanges' ledgers of USDT tell of accounts of demo and live mode. `account`: kind and id of the account. */
const ofLedger = () => ({
  userId: reference('user_id', () => users.id),
  exchangePlatform: text('exchange_platform').notNull(),
  exchangeMode: text('exchange_mode').$type<'paper' | 'demo' | 'live'>().notNull(),
  account: text('account').notNull(),
});

export const ledgerEntries = pgTable(
  'ledger_entries',
  {
    ...ofLedger(),
    entryId: text('entry_id').notNull(),
    at: instant('at').notNull(),
    /** The order in which the exchange told entries of one instant. */
    position: bigint('position', { mode: 'number' }).notNull(),
    kind: text('kind').$type<'trade' | 'fee' | 'funding' | 'deposit' | 'withdrawal' | 'other'>().notNull(),
    /** Signed, in USDT. */
    amount: numeric('amount').notNull(),
    /** Of the wallet after the entry; null: not told. */
    balance: numeric('balance'),
    token: text('token'),
    clientOrderId: text('client_order_id'),
    text: text('text').notNull(),
  },
  ({ userId, exchangePlatform, exchangeMode, account, entryId, at, position }) => [
    primaryKey({
      name: 'ledger_entries_key',
      columns: [userId, exchangePlatform, exchangeMode, account, entryId],
    }),
    index('ledger_entries_in_order').on(userId, exchangePlatform, exchangeMode, account, at, position),
  ],
);

/** From when until when an account's ledger was read without a hole; the end is not included. */
export const ledgerCoverage = pgTable(
  'ledger_coverage',
  {
    ...ofLedger(),
    coveredFrom: instant('covered_from').notNull(),
    coveredUntil: instant('covered_until').notNull(),
  },
  ({ userId, exchangePlatform, exchangeMode, account, coveredFrom }) => [
    primaryKey({
      name: 'ledger_coverage_key',
      columns: [userId, exchangePlatform, exchangeMode, account, coveredFrom],
    }),
  ],
);

/** Orders that ended and how many of them were filled, by the time they were begun. */
const orderCounts = {
  userId: uuid('user_id').notNull(),
  since: instant('since').notNull(),
  ...resultDetails,
};

/** By quarter of an hour (hours of every time zone consist of these), day and month (UTC); grains as performance_totals. */
export const orderTotals = pgTable(
  'order_totals',
  {
    grain: text('grain').$type<'all' | 'user' | 'detail' | 'user detail'>().notNull(),
    span: text('span').$type<'quarter' | 'day' | 'month'>().notNull(),
    ...orderCounts,
    orders: bigint('orders', { mode: 'number' }).notNull(),
    filled: bigint('filled', { mode: 'number' }).notNull(),
  },
  ({ grain, span, userId, since, processor, token, timeframe, sizingMethod, side, orders, filled }) => [
    primaryKey({
      name: 'order_totals_pk',
      columns: [grain, span, userId, since, processor, token, timeframe, sizingMethod, side],
    }),
    index('order_totals_since').on(grain, span, since),
    index('order_totals_token').on(grain, span, token, since),
    // For the users of a strategy over long ranges, whose months lie far apart.
    index('order_totals_months')
      .on(grain, processor, since, userId, orders, filled)
      .where(sql`span = 'month'`),
  ],
);

/** What is not yet in the totals, by quarter of an hour: a trigger of trades adds rows, so that no order waits for another. */
export const orderChanges = pgTable('order_changes', {
  ...orderCounts,
  orders: integer('orders').notNull(),
  filled: integer('filled').notNull(),
});

/** The percentage of new profit that a user's statement computes as fee; nothing collects it. */
export const performanceFees = pgTable('performance_fees', {
  userId: uuid('user_id')
    .primaryKey()
    .references(() => users.id),
  percent: numeric('percent').notNull(),
  updatedAt: instant('updated_at').notNull(),
});

/** The statements of all users of a month in one file, made in the background; deleted a day after it is ready. */
export const statementArchives = pgTable(
  'statement_archives',
  {
    id: uuid('id').primaryKey(),
    month: text('month').notNull(),
    requestedBy: uuid('requested_by').references(() => users.id),
    createdAt: instant('created_at').notNull(),
    /** How many users there are; null until it begins. */
    users: integer('users'),
    done: integer('done').notNull().default(0),
    /** Of these, the statements that say incomplete. */
    incomplete: integer('incomplete').notNull().default(0),
    endedAt: instant('ended_at'),
    /** Null until it is ready, and where it failed. */
    content: bytes('content'),
  },
  (table) => [uniqueIndex('statement_archives_open').on(table.month).where(sql`ended_at is null`)],
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

/** Stops of new entries. A row stays after its stop was lifted. */
export const tradingStops = pgTable(
  'trading_stops',
  {
    id: uuid('id').primaryKey(),
    scopeKind: text('scope_kind').$type<StopKind>().notNull(),
    /** The processor, the token or the user's id; null for everybody. */
    scopeValue: text('scope_value'),
    reason: text('reason'),
    createdAt: instant('created_at').notNull(),
    /** Null: a command where the program runs. */
    createdBy: uuid('created_by').references(() => users.id),
    createdByName: text('created_by_name').notNull(),
    /** When it ends by itself; null: when it is lifted. */
    until: instant('until'),
    liftedAt: instant('lifted_at'),
    liftedByName: text('lifted_by_name'),
  },
  (table) => [index('trading_stops_open').on(table.createdAt).where(sql`lifted_at is null`)],
);

// ---- Notices -------------------------------------------------------------------------------------------------

/**
 * What became true and may be worth telling, written in the transaction that made it true. No keys, references or
 * checks: an event can fail no trade. A row is deleted when its notices are made.
 */
export const noticeEvents = pgTable(
  'notice_events',
  {
    id: bigint('id', { mode: 'number' }).generatedAlwaysAsIdentity(),
    at: instant('at'),
    code: text('code').$type<EventCode>(),
    userId: uuid('user_id'),
    workflowId: uuid('workflow_id'),
    tradeId: uuid('trade_id'),
    data: jsonb('data').$type<Record<string, string | number | null>>(),
  },
  (table) => [index('notice_events_id').on(table.id)],
);

/** What is told. Ids are made by one instance at a time, so they are in order. */
export const notices = pgTable(
  'notices',
  {
    id: uuid('id').primaryKey(),
    code: text('code').$type<NoticeCode>().notNull(),
    severity: text('severity').$type<Severity>().notNull(),
    at: instant('at').notNull(),
    text: text('text').notNull(),
    link: text('link').notNull(),
    subject: jsonb('subject').$type<NoticeSubject>().notNull(),
    data: jsonb('data').$type<NoticeData>().notNull(),
    /** The user who is told; null: the administrators. No reference, like events. */
    recipientId: uuid('recipient_id'),
    madeAt: instant('made_at').notNull(),
    /** Waits for others of its kind until then, to be told together; null: it is told. */
    heldUntil: instant('held_until'),
  },
  (table) => [
    index('notices_recipient').on(table.recipientId, table.id),
    index('notices_made').on(table.madeAt),
    index('notices_held').on(table.heldUntil).where(sql`held_until is not null`),
  ],
);

export const noticeReads = pgTable(
  'notice_reads',
  {
    userId: uuid('user_id').notNull(),
    noticeId: uuid('notice_id').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.noticeId] }),
    index('notice_reads_notice').on(table.noticeId),
  ],
);

/** Since when conditions last that are told at their begin and their end, across restarts and instances. */
export const noticeStates = pgTable('notice_states', {
  key: text('key').primaryKey(),
  since: instant('since').notNull(),
  /** When it was told last. */
  toldAt: instant('told_at').notNull(),
});

/** Where notices are sent to. */
export const notificationChannels = pgTable(
  'notification_channels',
  {
    id: uuid('id').primaryKey(),
    /** An administrator's channel gets the notices for administrators, another user's those about this user. */
    ownerUserId: reference('owner_user_id', () => users.id),
    kind: text('kind').$type<ChannelKind>().notNull(),
    name: text('name').notNull(),
    /** All of the configuration, as JSON. */
    configSealed: text('config_sealed').notNull(),
    /** The configuration with hints in place of secrets. */
    shown: jsonb('shown').$type<Record<string, string | number | boolean>>().notNull(),
    minSeverity: text('min_severity').$type<Severity>().notNull(),
    /** Null: all. */
    codes: text('codes').array().$type<NoticeCode[]>(),
    /** HH:MM in the display time zone; null: no quiet hours. */
    quietFrom: text('quiet_from'),
    quietTo: text('quiet_to'),
    enabled: boolean('enabled').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    lastSentAt: instant('last_sent_at'),
    lastError: text('last_error'),
    lastErrorAt: instant('last_error_at'),
    /** Failures in a row, and when the next try is due. */
    failures: integer('failures').notNull().default(0),
    retryAt: instant('retry_at'),
    /**
     * Commands from the chat of a Telegram channel are answered if they come after this message, with which the bot
     * announced it: ids of messages rise within a chat, and no clock is asked. Null: they are not answered.
     */
    answersAfter: bigint('answers_after', { mode: 'number' }),
    /** Why the bot could not be asked for commands the last time; null when it could. */
    answersError: text('answers_error'),
    /** Until when only critical notices are sent, as a command wanted it. */
    mutedUntil: instant('muted_until'),
  },
  (table) => [index('notification_channels_owner').on(table.ownerUserId)],
);

/** Up to which update the commands of a Telegram bot are answered: each one once, by whichever instance. */
export const telegramBots = pgTable('telegram_bots', {
  /** The number before the colon of its token. */
  botId: text('bot_id').primaryKey(),
  nextUpdate: bigint('next_update', { mode: 'number' }).notNull(),
  handledAt: instant('handled_at').notNull(),
});

/**
 * Questions of the chat whether to close all positions of a scope; the button works until it expires. The closing takes
 * the question's id, so there is one at most.
 */
export const chatQuestions = pgTable('chat_questions', {
  id: uuid('id').primaryKey(),
  channelId: uuid('channel_id').notNull(),
  scopeKind: text('scope_kind').$type<StopKind>().notNull(),
  scopeValue: text('scope_value'),
  expiresAt: instant('expires_at').notNull(),
});

/** The outbox: one row for each notice and channel. Rows of a channel are sent in the order of their ids. */
export const noticeDeliveries = pgTable(
  'notice_deliveries',
  {
    id: uuid('id').primaryKey(),
    channelId: uuid('channel_id').notNull(),
    noticeId: uuid('notice_id').notNull(),
    isCritical: boolean('is_critical').notNull(),
    state: text('state').$type<'waiting' | 'sent' | 'given up'>().notNull(),
    createdAt: instant('created_at').notNull(),
    /** When it was sent or given up. */
    endedAt: instant('ended_at'),
    tries: integer('tries').notNull().default(0),
  },
  (table) => [
    index('notice_deliveries_waiting').on(table.channelId, table.id).where(sql`state = 'waiting'`),
    index('notice_deliveries_notice').on(table.noticeId),
  ],
);

/** Series of candles that came, watched by a sweep over the price logs. */
export const feeds = pgTable(
  'feeds',
  {
    id: uuid('id').primaryKey(),
    hookId: uuid('hook_id').notNull(),
    ownerUserId: uuid('owner_user_id').notNull(),
    token: text('token').notNull(),
    timeframe: text('timeframe').notNull(),
    /** '' for candles without one. */
    processor: text('processor').notNull(),
    /** How many candles came, up to the three after which the series has a rhythm. */
    candles: integer('candles').notNull(),
    lastCandleTime: instant('last_candle_time').notNull(),
    lastReceivedAt: instant('last_received_at').notNull(),
    skewSeconds: integer('skew_seconds').notNull(),
    muted: boolean('muted').notNull().default(false),
    /** Null: by the timeframe. */
    graceSeconds: integer('grace_seconds'),
    /** HH:MM in the display time zone, between which candles are expected; null: always. */
    hoursFrom: text('hours_from'),
    hoursTo: text('hours_to'),
    /** Since when the feed is told to be silent; null: it is not. */
    silentSince: instant('silent_since'),
  },
  (table) => [uniqueIndex('feeds_series').on(table.hookId, table.token, table.timeframe, table.processor)],
);

/** Candles that are missing between two that came. */
export const feedGaps = pgTable(
  'feed_gaps',
  {
    feedId: uuid('feed_id').notNull(),
    /** The time of the candle after the gap. */
    endedAt: instant('ended_at').notNull(),
    missing: integer('missing').notNull(),
  },
  (table) => [primaryKey({ columns: [table.feedId, table.endedAt] })],
);

/** One row: up to which price log the feeds are known. */
export const feedSweeps = pgTable('feed_sweeps', {
  isOnly: boolean('is_only').primaryKey().default(true),
  sweptTo: uuid('swept_to').notNull(),
});

interface AuditActorColumns {
  kind: AuditActorKind;
  id: string | null;
  name: string;
  address: string | null;
  requestId: string | null;
}

/** Closings of all positions in a scope, with what is needed to go on after a crash. */
export const flattens = pgTable(
  'flattens',
  {
    id: uuid('id').primaryKey(),
    scopeKind: text('scope_kind').$type<StopKind>().notNull(),
    scopeValue: text('scope_value'),
    requestedBy: uuid('requested_by').references(() => users.id),
    /** Who requested it, as the audit trail names them. */
    actor: jsonb('actor').$type<AuditActorColumns>().notNull(),
    createdAt: instant('created_at').notNull(),
    /** A stop of new entries that is lifted when every position was tried; null: the stop stays. */
    endsStopId: uuid('ends_stop_id').references(() => tradingStops.id),
    /** When nothing was left to try, or it was dismissed. */
    endedAt: instant('ended_at'),
  },
  (table) => [index('flattens_open').on(table.createdAt).where(sql`ended_at is null`)],
);

export const flattenPositions = pgTable(
  'flatten_positions',
  {
    flattenId: reference('flatten_id', () => flattens.id),
    userId: reference('user_id', () => users.id),
    exchangePlatform: text('exchange_platform').notNull(),
    token: text('token').notNull(),
    /** The order had filled nothing when the closing began. */
    isEntry: boolean('is_entry').notNull(),
    state: text('state').$type<'waiting' | 'failed' | 'closed' | 'skipped'>().notNull(),
    tradeId: uuid('trade_id'),
    /** What must stay open because it was not opened here; written before the first closing order. */
    keepQuantity: numeric('keep_quantity'),
    tries: integer('tries').notNull().default(0),
    firstFailedAt: instant('first_failed_at'),
    nextAt: instant('next_at').notNull(),
    reason: text('reason'),
  },
  (table) => [
    primaryKey({ columns: [table.flattenId, table.userId, table.exchangePlatform, table.token] }),
    index('flatten_positions_trade').on(table.tradeId),
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

/** The running programs, with checks of the keys that each of them knows; kept alive by their heartbeat. */
export const instances = pgTable('instances', {
  instanceId: text('instance_id').primaryKey(),
  keyCheck: bytes('key_check').notNull(),
  nextKeyCheck: bytes('next_key_check'),
  /** Whether it seals with its next key. */
  sealsUnderNext: boolean('seals_under_next').notNull(),
  heartbeatAt: instant('heartbeat_at').notNull(),
});

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
    /** The same of the key that new secrets are sealed with since `npm run rotate-secret` began; null otherwise. */
    nextKeyCheck: bytes('next_key_check'),
  },
  (table) => [check('secret_key_checks_one', sql`${table.isOnly}`)],
);
