import type pg from 'pg';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import type { ExchangeAccount } from './exchanges/exchange.ts';
import type { ExchangeRegistry } from './exchanges/registry.ts';
import type { Receiver } from './features/ingest/receive-delivery.ts';
import type { ChangeFeed } from './platform/change-feed.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import type { Db } from './platform/database/database.ts';
import type { Jobs } from './platform/jobs.ts';
import type { Logger } from './platform/log.ts';
import type { SecretBox } from './platform/secret-box.ts';

/** All that the features work with, made once in program.ts (or by a test) and handed down. */
export interface Deps {
  config: Config;
  log: Logger;
  clock: Clock;
  db: Db;
  pool: pg.Pool;
  secretBox: SecretBox;
  jobs: Jobs;
  exchanges: ExchangeRegistry;
  /** The user's account at the exchange in the current mode; null without credentials. */
  findAccount: (userId: string, platform: ExchangePlatform) => Promise<ExchangeAccount | null>;
  receiver: Receiver;
  /** A new price of the token was stored: the paper exchange looks at its orders and positions. */
  onPrice: (token: string) => void;
  /** What the database announces as changed, by any instance. */
  changeFeed: ChangeFeed;
  readiness: () => Promise<Readiness>;
}

export interface Readiness {
  ready: boolean;
  checks: { database: boolean; positionMaker: boolean };
}
