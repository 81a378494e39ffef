import type pg from 'pg';
import type { AttentionCondition } from '#contract/attention.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { Denial } from '#domain/workflow/denials.ts';
import type { Transitions } from './engine/records/transitions.ts';
import type { CandleWaits } from './engine/workflow/candle-waits.ts';
import type { UserIntake } from './engine/workflow/user-intake.ts';
import type { WorkflowPrices } from './engine/workflow/workflow-prices.ts';
import type { ExchangeAccount } from './exchanges/exchange.ts';
import type { ExchangeRegistry } from './exchanges/registry.ts';
import type { Receiver } from './ingest/receive-delivery.ts';
import type { AuditTrail } from './platform/audit/audit-trail.ts';
import type { ChangeFeed } from './platform/change-feed.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config/config.ts';
import type { Db } from './platform/db/database.ts';
import type { LimitPasswordAttempts } from './platform/http/password-limits.ts';
import type { UntrustedProxies } from './platform/http/untrusted-proxies.ts';
import type { Jobs } from './platform/jobs/jobs.ts';
import type { RightOfWay } from './platform/jobs/right-of-way.ts';
import type { Logger } from './platform/log.ts';
import type { Metrics } from './platform/metrics.ts';
import type { SecretBox } from './platform/secret-box.ts';

/** Everything that the features work with, created once in program.ts (or by a test) and passed down. */
export interface Deps {
  config: Config;
  log: Logger;
  clock: Clock;
  db: Db;
  pool: pg.Pool;
  /** The pools of workflows and orders, and of deliveries: for their metrics. */
  enginePool: PoolFigures;
  deliveryPool: PoolFigures;
  secretBox: SecretBox;
  /** Records who did what, in the transaction of what it tells. */
  audit: AuditTrail;
  jobs: Jobs;
  exchanges: ExchangeRegistry;
  /**
   * The user's account at the exchange in the current mode; null without usable credentials. `evenRejected`: also with
   * a key that the exchange refuses, for work that has to be finished.
   */
  findAccount: (
    userId: string,
    platform: ExchangePlatform,
    options?: { evenRejected: boolean },
  ) => Promise<UserAccount | null>;
  accountGuard: AccountGuard;
  receiver: Receiver;
  /** Holds back other work of this instance while deliveries come in. */
  rightOfWay: Pick<RightOfWay, 'waiting'>;
  /** Commits what the engine's workers write down about users and trades, many at once. */
  transitions: Transitions;
  /** Called when a new price of the token was stored: the paper exchange checks its orders and positions. */
  onPrice: (token: string) => void;
  /** Called when an administrator has asked for the statements of all users. */
  onArchiveRequested: () => void;
  /** The changes that any instance announces through the database. */
  changeFeed: ChangeFeed;
  /** Wakes workflows that wait for the candle of their bar. */
  candleWaits: CandleWaits;
  /** The prices that the users of a workflow share. */
  workflowPrices: WorkflowPrices;
  /** How many users of workflows this instance works on. */
  userIntake: UserIntake;
  metrics: Metrics;
  untrustedProxies: UntrustedProxies;
  limitPasswordAttempts: LimitPasswordAttempts;
  /** The conditions that need the attention of administrators. */
  attentionSources: readonly AttentionSource[];
  readiness: () => Promise<Readiness>;
  /** The free part of the data folder's disk, from 0 to 1; null while it cannot be read. */
  freeSpace: () => Promise<number | null>;
}

/** What the engine works with. */
export type EngineDeps = Pick<
  Deps,
  | 'db'
  | 'clock'
  | 'config'
  | 'jobs'
  | 'log'
  | 'exchanges'
  | 'findAccount'
  | 'accountGuard'
  | 'transitions'
  | 'secretBox'
  | 'audit'
  | 'candleWaits'
  | 'userIntake'
  | 'workflowPrices'
>;

export type PoolFigures = Pick<pg.Pool, 'idleCount' | 'totalCount' | 'waitingCount' | 'options'>;

/** Reads the conditions of one kind from the current state on every call. */
export type AttentionSource = () => Promise<AttentionCondition[]>;

/** An exchange account with its state. */
export interface UserAccount extends ExchangeAccount {
  /** The exchange's own id of the account, if known. */
  accountId?: string | null;
  /** Why no new orders are placed with it; existing orders can still be looked up. */
  denial?: Denial | null;
}

/** Decides whether orders may be placed with an account. */
export interface AccountGuard {
  /** Why not; null if they may. Asks the exchange first about a key that was not inspected. */
  deny(userId: string, platform: ExchangePlatform): Promise<Denial | null>;
  /** The same for all users, from the database only: a key that was not inspected is denied. */
  readDenials(): Promise<(userId: string, platform: string) => Denial | null>;
}

/** For the paper exchange, where everybody has an account. */
export const OPEN_TO_ALL: AccountGuard = {
  deny: async () => null,
  readDenials: async () => () => null,
};

export interface Readiness {
  ready: boolean;
  checks: { database: boolean; positionMaker: boolean; disk: boolean };
}
