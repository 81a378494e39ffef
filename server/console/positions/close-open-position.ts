import type { ClosePositionAnswer } from '#contract/positions.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { isSamePosition } from '#domain/orders/held-position.ts';
import { partialClose } from '#domain/orders/partial-close.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { deny } from '#domain/workflow/denials.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import { type CloseResult, endClosing } from '#server/engine/orders/close-position.ts';
import { closeUntilDone, isClosed } from '#server/engine/orders/close-until-done.ts';
import { findOwnTrade } from '#server/engine/protection/find-own-trade.ts';
import { findOpenTradePlatform, listOpenTrades } from '#server/engine/protection/positions.store.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { describeHidden, tradesOfAccount } from '#server/engine/protection/trades-of-account.ts';
import { findWorkingTrade } from '#server/engine/records/trades.store.ts';
import {
  asExchangeError,
  type Exchange,
  ExchangeError,
  type OpenPosition,
} from '#server/exchanges/exchange.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { type Lease, LeaseLostError, withLeaseWithin } from '#server/platform/jobs/leases.ts';

const LEASE_PATIENCE_MS = 10_000;
/** Proxies end a request that takes longer. What is open then is said, and closing again goes on. */
const LONGEST_MS = 45_000;

interface CloseTask {
  userId: string;
  token: string;
  /** 1 to 100. */
  percent: number;
  requestedBy: string;
}

/** One position of a user, under the user's lease. */
export interface PositionWork {
  userId: string;
  token: string;
  requestedBy: string | null;
  deps: EngineDeps;
  exchange: Exchange;
  account: UserAccount;
  lease: Lease;
}

/**
 * Closes a user's position in a token, or a part of it, at market for an operator. Allowed in every mode because it only reduces risk. The
 * order is reduce-only and recorded before it is sent; closing ends when the exchange reports nothing left. It holds the
 * user's lease, so a second request finds the position closed and no order is planned during the closing. Refused while
 * an order of the user in the token is in progress, because that order could open the position again.
 */
export async function closeOpenPosition(
  deps: EngineDeps,
  reader: AccountReader,
  task: CloseTask,
  { leasePatienceMs = LEASE_PATIENCE_MS }: { leasePatienceMs?: number } = {},
): Promise<ClosePositionAnswer> {
  const { userId, token } = task;
  const platform = await findPlatform(deps, task);
  const key = { userId, exchangePlatform: platform };
  const leased = await withPosition(
    deps,
    { userId, token, platform, requestedBy: task.requestedBy, leasePatienceMs },
    (work) => closeUnderLease(work, task.percent),
  ).finally(() => reader.forget(key));
  if (!leased.isHeld) return refused(leased.reason);
  // Read the account immediately, so that the outcome is recorded with the closing.
  await reader.read(key, 0).catch(() => undefined);
  return leased.result;
}

/**
 * Works on one position of a user under the user's lease: no order of the user is planned meanwhile. Without an account
 * or the lease it does nothing, and says why.
 */
export async function withPosition<Result>(
  deps: EngineDeps,
  options: {
    userId: string;
    token: string;
    platform: ExchangePlatform;
    requestedBy: string | null;
    leasePatienceMs?: number;
  },
  run: (work: PositionWork) => Promise<Result>,
): Promise<{ isHeld: true; result: Result } | { isHeld: false; reason: string }> {
  const { userId, token, platform, requestedBy, leasePatienceMs = LEASE_PATIENCE_MS } = options;
  const account = await deps.findAccount(userId, platform);
  if (account === null) {
    const denial = await deps.accountGuard.deny(userId, platform);
    const { reason } = denial ?? deny('exchange_not_connected', { exchange: platform });
    return { isHeld: false, reason };
  }
  const exchange = deps.exchanges.get(platform);
  const holder = `${deps.config.instanceId} close ${token}`;
  const leased = await withLeaseWithin(
    {
      db: deps.db,
      clock: deps.clock,
      key: `user:${userId}`,
      holder,
      log: deps.log,
      patienceMs: leasePatienceMs,
    },
    (lease) => run({ userId, token, requestedBy, deps, exchange, account, lease }),
  );
  if (leased.held) return { isHeld: true, result: leased.result };
  const reason = 'Another order of this user is being prepared or closed; try again in a moment';
  return { isHeld: false, reason };
}

const refused = (message: string): ClosePositionAnswer => ({ success: false, message });

/** The exchange where a position opened here may be open, else the one in the user's settings. */
async function findPlatform(deps: EngineDeps, { userId, token }: CloseTask): Promise<ExchangePlatform> {
  required(await findUser(deps.db, userId), 'userNotFound');
  const settings = await findTradingSettings(deps.db, userId);
  const name = (await findOpenTradePlatform(deps.db, { userId, token })) ?? settings?.exchangePlatform;
  const platform = deps.exchanges.supported.find((one) => one === name);
  if (platform !== undefined) return platform;
  const context = { exchange: name ?? 'no exchange', mode: deps.config.exchangeMode };
  throw new AppError('unavailable', { message: deny('exchange_unsupported', context).reason });
}

async function closeUnderLease(work: PositionWork, percent: number): Promise<ClosePositionAnswer> {
  const { deps, exchange, account, userId, token } = work;
  // Only a working order can still open something; one that is protecting or closing its position cannot.
  if ((await findWorkingTrade(deps.db, { userId, token }))?.state === 'working') {
    return refused(
      `An order of this user in ${token} is still being worked on; close the position when it is done`,
    );
  }
  try {
    const position = await exchange.fetchPosition(account, token, { priority: 'protect' });
    if (position === null) {
      const hidden = (await readTrades(work)).hidden.filter(({ trade }) => trade.token === token);
      if (hidden.length > 0) return refused(`Not closed. ${describeHidden(hidden)}`);
      const left = await endClosing(deps, { exchange, account, token });
      return closed(`There is no open position in ${token}`, left);
    }
    const part = percent === 100 ? null : await findPart(work, position, percent);
    if (part?.isPossible === false) return refused(`Not closed. ${part.reason}`);
    const result = await closeAll(work, position, part?.keep ?? null, { longestMs: LONGEST_MS });
    if (result.outcome === 'kept') {
      const what = `${toPlain(D(position.quantity).minus(result.left))} of ${position.quantity} ${token} is closed`;
      return closed(`${what}, ${result.left} stays open with its stop`, null);
    }
    const what = `The ${position.side} position of ${position.quantity} ${token} is closed`;
    if (result.outcome === 'flat') return closed(what, null);
    if (isClosed(result)) return closed(what, result.message);
    const why = 'message' in result ? result.message : '';
    return refused(await describeUnclosed(work, { before: position, keep: part?.keep ?? null, why }));
  } catch (error) {
    if (error instanceof LeaseLostError) {
      return refused('Another instance has taken this user over; look at the position again');
    }
    if (!(error instanceof ExchangeError)) throw error;
    return refused(`The position in ${token} could not be closed: ${error.message}`);
  }
}

/** What of the position is closed and what is open: some of its parts may have closed. */
async function describeUnclosed(
  { exchange, account, token }: PositionWork,
  { before, keep, why }: { before: OpenPosition; keep: string | null; why: string },
): Promise<string> {
  const now = await exchange.fetchPosition(account, token, { priority: 'protect' }).catch(asExchangeError);
  const isKnown = now !== null && !(now instanceof ExchangeError) && isSamePosition(before, now);
  if (!isKnown || D(now.quantity).gte(before.quantity)) {
    return `The position in ${token} could not be closed: ${why}`;
  }
  const closed = toPlain(D(before.quantity).minus(now.quantity));
  // The same part once more would be a part of the rest.
  const next = keep === null ? 'Close it again to go on.' : `Only ${keep} was to stay.`;
  return `${closed} of ${before.quantity} ${token} is closed so far, and ${now.quantity} is still open: ${why}. ${next}`;
}

async function findPart({ exchange, token }: PositionWork, { quantity }: OpenPosition, percent: number) {
  const rules = await exchange.fetchContract(token, { priority: 'protect' });
  if (rules === null)
    throw new ExchangeError('refused', `${exchange.platform} lists no contract for ${token}`);
  return partialClose({ quantity, percent, rules });
}

const closed = (what: string, but: string | null): ClosePositionAnswer => ({
  success: true,
  message: but === null ? what : `${what}, but ${but}`,
});

/** Our open trades of the position's account, and those that another account would have to show. */
export async function readTrades({ deps, exchange, account, userId }: PositionWork) {
  const trades = await listOpenTrades(deps.db, { userId, exchangePlatform: exchange.platform });
  return tradesOfAccount(deps, trades, account);
}

/** Repeats until the exchange reports no more open than `keep` (null: nothing), a time limit passes, or it refuses. */
export async function closeAll(
  work: PositionWork,
  position: OpenPosition,
  keep: string | null,
  { longestMs }: { longestMs?: number } = {},
): Promise<CloseResult> {
  const { deps, exchange, account, token, requestedBy, lease } = work;
  const { here } = await readTrades(work);
  const { userId } = work;
  const trade = await findOwnTrade(deps, { userId, exchange, account, candidates: here, position });
  const request = {
    exchange,
    account,
    token,
    isMeant: (open: OpenPosition) => isSamePosition(position, open),
    keep,
    reason: CLOSE_REASONS.operator,
    tradeId: trade?.id ?? null,
    ...(requestedBy === null ? {} : { requestedBy }),
    lease,
  };
  return await closeUntilDone(deps, request, longestMs === undefined ? {} : { longestMs });
}
