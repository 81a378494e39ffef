import type { OpenPositionView } from '#contract/positions.ts';
import { D } from '#domain/decimal.ts';
import { isSamePosition } from '#domain/orders/held-position.ts';
import {
  isFurtherThanPlanned,
  plannedProtection,
  protectionNeed,
  standingProtection,
} from '#domain/orders/protection.ts';
import {
  clearHalts,
  type HaltRow,
  listUnclearedHalts,
  startHalt,
} from '#server/admin/halts/trading-halts.store.ts';
import type { Deps } from '#server/deps.ts';
import { reopenTrade } from '#server/engine/orders/restore-protection.ts';
import { isPlayMoneyElsewhere, whyElsewhere } from '#server/engine/orders/trade-account.ts';
import { addTimeline, findLastLine, findTrade, type TradeRow } from '#server/engine/records/trades.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { type Clock, isDue } from '#server/platform/clock.ts';
import type { Db } from '#server/platform/db/database.ts';
import { assertHeld, type Lease, LeaseLostError, withLease } from '#server/platform/jobs/leases.ts';
import { completeFills } from './complete-fills.ts';
import { type AccountKey, listAccounts } from './positions.store.ts';
import { type AccountReading, createAccountReader, type ReaderDeps } from './read-account.ts';

type AuditDeps = ReaderDeps & Pick<Deps, 'jobs' | 'audit'>;

/** Accounts read at a time per exchange; an account that does not answer delays one lane, not the others. */
const CONCURRENT = 4;
const LONGEST_ACCOUNT_WAIT_MS = 5 * 60_000;
const LONGEST_TARGET_WAIT_MS = 15 * 60_000;
const FIRST_WAIT_MS = 30_000;

/**
 * Compares the positions we opened with the stops at their exchanges (I4), and records positions that have ended.
 * 1. A position without its stop is handed back to the position maker, which places the stop again or closes.
 * 2. A missing take profit is tried again, less and less often.
 * 3. An exchange that does not answer changes nothing, and is asked less often.
 * 4. Positions opened elsewhere are never touched.
 * 5. Orders whose fill their position has proven are looked up for their fee.
 */
export function createProtectionAudit(deps: AuditDeps): { run(lease: Lease): Promise<void> } {
  const { db, clock, log } = deps;
  const reader = createAccountReader(deps, { priority: 'background' });
  const accountBackOff = createBackOff({ clock, firstMs: FIRST_WAIT_MS, longestMs: LONGEST_ACCOUNT_WAIT_MS });
  /** Positions that the last audit could not verify, since when. */
  const unverified = new Map<string, Date>();
  const targetBackOff = createBackOff({ clock, firstMs: FIRST_WAIT_MS, longestMs: LONGEST_TARGET_WAIT_MS });

  async function auditAccount(account: AuditedAccount, lease: Lease): Promise<void> {
    const { userId, exchangePlatform } = account;
    const name = `${userId} ${exchangePlatform}`;
    if (accountBackOff.isWaiting(name)) return;
    try {
      const reading = await reader.read(account, 0);
      accountBackOff.forget(name);
      const open = reading.outcome === 'read' ? reading.open : [];
      for (const position of open) await auditAlone(position, () => auditPosition(position, lease));
      const doubtful = reading.outcome === 'read' ? reading.doubtful : [];
      for (const { trade, problem } of doubtful) {
        // The position maker reads the position while it works on the trade.
        if (trade.state !== 'done') continue;
        const position = { ...account, tradeId: trade.id, token: trade.token };
        await auditAlone(position, () => Promise.reject(new ExchangeError('unknown', problem)));
      }
      for (const halt of account.halts) await auditHaltAlone(halt, reading);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      accountBackOff.note(name);
      const level = error instanceof ExchangeError ? 'debug' : 'error';
      log[level]({ err: error, userId, exchangePlatform }, 'an account could not be audited');
    }
  }

  /** I4: a position that cannot be read keeps no other from being audited, and is said within a minute. */
  async function auditAlone(position: NamedPosition, audit: () => Promise<void>): Promise<void> {
    const { userId, exchangePlatform, token } = position;
    const name = `${userId} ${exchangePlatform} ${token}`;
    try {
      await audit();
      unverified.delete(name);
    } catch (error) {
      if (error instanceof LeaseLostError) throw error;
      log.error({ err: error, userId, exchangePlatform, token }, 'an open position could not be verified');
      const at = clock.now();
      const since = unverified.get(name);
      if (since === undefined) unverified.set(name, at);
      else await haltUnverified(position, { error, at }).catch(logged);
    }
  }

  /** The second audit in a row could not read what the stop is. */
  async function haltUnverified(
    { tradeId, userId, exchangePlatform, token }: NamedPosition,
    { error, at }: { error: unknown; at: Date },
  ): Promise<void> {
    const why = error instanceof ExchangeError ? error.message : 'the log says why';
    const reason = `The stop of the ${token} position at ${exchangePlatform} could not be verified: ${why}`;
    const kind = 'unverified' as const;
    const halt = { userId, exchangePlatform, token, tradeId, kind, reason, now: at };
    await db.transaction((tx) => startHalt(tx, { ...halt, audit: deps.audit }));
  }

  async function auditHaltAlone(halt: HaltRow, reading: AccountReading): Promise<void> {
    await auditHalt(halt, reading).catch(logged);
  }

  function logged(error: unknown): void {
    log.error({ err: error }, 'a halt could not be written');
  }

  async function auditHalt(halt: HaltRow, reading: AccountReading): Promise<void> {
    const trade = halt.tradeId === null ? null : await findTrade(db, halt.tradeId);
    const how = howCleared({ halt, trade, reading });
    if (how === null) return;
    const { audit } = deps;
    await db.transaction((tx) => clearHalts(tx, { positions: [{ ...halt, how }], now: clock.now(), audit }));
  }

  function howCleared(halted: {
    halt: HaltRow;
    trade: TradeRow | null;
    reading: AccountReading;
  }): string | null {
    const { halt, trade, reading } = halted;
    if (trade !== null && isPlayMoneyElsewhere(deps, trade)) {
      return `The position is one of ${trade.exchangeMode} mode`;
    }
    if (reading.outcome === 'no-account') return null;
    const { account, open, unreadable } = reading;
    // Another account or mode says nothing about the halted position.
    if (trade !== null && whyElsewhere(deps, { trade, account, what: 'position' }) !== null) return null;
    if (unreadable.some(({ token }) => token === null || token === halt.token)) return null;
    const position = open.find(({ token }) => token === halt.token);
    return isMisplaced(trade, position) ? null : howSafe(position);
  }

  async function auditPosition(position: AuditedPosition, lease: Lease): Promise<void> {
    const { tradeId, userId, token } = position;
    const { stopLoss, takeProfit } = standingProtection({ ...position, held: position });
    const isAsRecorded = stopLoss !== null && takeProfit !== null && position.differences.length === 0;
    if (tradeId === null || isAsRecorded) return;
    const trade = await findTrade(db, tradeId);
    // The position maker protects the position while it works on the trade.
    if (trade?.state !== 'done') return;
    if (stopLoss !== null) {
      await recordMovedStop(trade, { stopLoss, lease });
      const need = protectionNeed({ ...position, held: position, planned: plannedProtection(trade) });
      if (need !== 'target' || targetBackOff.isWaiting(tradeId)) return;
      targetBackOff.note(tradeId);
      await reopenTrade(deps, { tradeId, lacks: 'target', lease });
      return;
    }
    // The account's list of all stops may be incomplete: ask for this position's stop separately.
    if (!(await isUnprotected(position))) return;
    if (!(await reopenTrade(deps, { tradeId, lacks: 'stop', lease }))) return;
    log.error({ tradeId, userId, token }, 'an open position was found without its stop');
  }

  /** A stop that was moved after it had been read back is its owner's: it stays, and the trade says once where it is. */
  async function recordMovedStop(
    trade: TradeRow,
    { stopLoss, lease }: { stopLoss: string; lease: Lease },
  ): Promise<void> {
    const planned = plannedProtection(trade);
    if (D(stopLoss).eq(planned.stopLoss)) return;
    const text = `${MOVED_STOP} ${stopLoss}, planned was ${planned.stopLoss}; it stays`;
    const tradeId = trade.id;
    if ((await findLastLine(db, { tradeId, beginning: MOVED_STOP }))?.text === text) return;
    await db.transaction(async (tx) => {
      await assertHeld(tx, lease);
      await addTimeline(tx, { tradeId, at: clock.now(), text });
    });
  }

  /** Reads the position with its stop: it may have been closed after it was listed. */
  async function isUnprotected(listed: AuditedPosition): Promise<boolean> {
    const { userId, exchangePlatform, token, side, openedAt } = listed;
    const platform = deps.exchanges.supported.find((one) => one === exchangePlatform);
    const account = platform === undefined ? null : await deps.findAccount(userId, platform);
    if (account === null || platform === undefined) return false;
    const context = { priority: 'protect' } as const;
    const holding = await deps.exchanges.get(platform).fetchHolding(account, token, context);
    if (holding === null) return false;
    const { position, protection } = holding;
    const asListed = { side, openedAt: openedAt === null ? null : new Date(openedAt) };
    if (!isSamePosition(asListed, position)) return false;
    return standingProtection({ ...position, held: protection }).stopLoss === null;
  }

  return {
    async run(lease) {
      const byExchange = await listAuditedAccounts(db);
      await Promise.all([...byExchange.values()].map((accounts) => inLanes(accounts)));
      const onError = (error: unknown, { id: tradeId }: { id: string }) => {
        if (error instanceof LeaseLostError) throw error;
        log.error({ err: error, tradeId }, 'the fill of an order could not be completed');
      };
      await completeFills(deps, { lease, onError });

      async function inLanes(accounts: AuditedAccount[]): Promise<void> {
        const waiting = accounts.values();
        const lane = async () => {
          for (const account of waiting) await auditAccount(account, lease);
        };
        await Promise.all(Array.from({ length: CONCURRENT }, lane));
      }
    },
  };
}

type AuditedPosition = Omit<OpenPositionView, 'username'>;
type NamedPosition = Pick<AuditedPosition, 'tradeId' | 'userId' | 'exchangePlatform' | 'token'>;

const MOVED_STOP = 'The audit found the stop loss at';

/** A stop that counts as missing because it is further away than planned makes nothing safe. */
function isMisplaced(trade: TradeRow | null, position: AuditedPosition | undefined): boolean {
  if (trade === null || trade.unprotectedSince === null || position?.stopLoss == null) return false;
  const { side, stopLoss } = position;
  return isFurtherThanPlanned({ side, stopLoss, planned: plannedProtection(trade), tickSize: '0' });
}

function howSafe(position: AuditedPosition | undefined): string | null {
  if (position === undefined) return 'The exchange shows no position';
  const { stopLoss } = standingProtection({ ...position, held: position });
  return stopLoss === null ? null : `The exchange shows the stop ${stopLoss}`;
}

/** An account that may hold a position we opened, and the halts that its exchange can clear. */
interface AuditedAccount extends AccountKey {
  halts: HaltRow[];
}

/** Accounts by exchange. */
async function listAuditedAccounts(db: Db): Promise<Map<string, AuditedAccount[]>> {
  const halts = await listUnclearedHalts(db);
  const nameOf = ({ userId, exchangePlatform }: AccountKey) => `${userId} ${exchangePlatform}`;
  const haltsOf = Map.groupBy(halts, nameOf);
  const accounts = new Map<string, AuditedAccount>();
  for (const { userId, exchangePlatform } of [
    ...(await listAccounts(db, { onlyWithTrades: true })),
    ...halts,
  ]) {
    const key = { userId, exchangePlatform };
    accounts.set(nameOf(key), { ...key, halts: haltsOf.get(nameOf(key)) ?? [] });
  }
  return Map.groupBy(accounts.values(), ({ exchangePlatform }) => exchangePlatform);
}

const AUDIT_EVERY_MS = 30_000;
/** The auditing instance may be frozen: another one takes over before the next round. */
export const HELD_RETRY_MS = 5_000;

/**
 * Audits all open positions immediately and then every half minute, one instance at a time. This also records the ends
 * of positions before the exchange forgets them.
 */
export function startProtectionAudit(
  deps: AuditDeps,
  { everyMs = AUDIT_EVERY_MS, heldRetryMs = HELD_RETRY_MS }: { everyMs?: number; heldRetryMs?: number } = {},
): () => void {
  const audit = createProtectionAudit(deps);
  let isAuditing = false;
  let isStopped = false;
  let cancelRetry = () => {};
  async function run(): Promise<void> {
    if (isAuditing) return;
    isAuditing = true;
    cancelRetry();
    const lease = {
      db: deps.db,
      clock: deps.clock,
      key: 'protection:audit',
      holder: deps.config.instanceId,
      log: deps.log,
    };
    try {
      const { held } = await withLease(lease, (own) => audit.run(own));
      if (!held && !isStopped) cancelRetry = deps.clock.after(heldRetryMs, () => void run());
    } catch (error) {
      deps.log.warn({ err: error }, 'the protection of open positions could not be audited');
    }
    isAuditing = false;
  }
  const stop = deps.clock.every(everyMs, () => void run());
  void run();
  return () => {
    isStopped = true;
    stop();
    cancelRetry();
  };
}

interface BackOff {
  isWaiting(name: string): boolean;
  /** Doubles the next wait; call after a try or a failure. */
  note(name: string): void;
  forget(name: string): void;
}

/** Retries by name, less and less often. Kept in memory: after a restart every name is tried once. */
function createBackOff(options: { clock: Clock; firstMs: number; longestMs: number }): BackOff {
  const { clock, firstMs, longestMs } = options;
  const waits = new Map<string, { waitMs: number; until: Date }>();
  return {
    isWaiting(name) {
      const wait = waits.get(name);
      if (wait === undefined) return false;
      return !isDue({ dueAt: wait.until, longestWaitMs: wait.waitMs, now: clock.now() });
    },
    note(name) {
      const before = waits.get(name);
      const waitMs = before === undefined ? firstMs : Math.min(before.waitMs * 2, longestMs);
      const nowMs = clock.now().getTime();
      waits.set(name, { waitMs, until: new Date(nowMs + waitMs) });
      // Drop entries that expired long ago.
      for (const [one, { until }] of waits) if (until.getTime() + longestMs < nowMs) waits.delete(one);
    },
    forget: (name) => void waits.delete(name),
  };
}
