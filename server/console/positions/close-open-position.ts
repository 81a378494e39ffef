import { setTimeout as sleep } from 'node:timers/promises';
import type { ClosePositionAnswer } from '#contract/positions.ts';
import { CLOSE_REASONS } from '#domain/orders/closed-by.ts';
import { isSamePosition } from '#domain/orders/held-position.ts';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { deny } from '#domain/workflow/denials.ts';
import { findTradingSettings } from '#server/admin/settings/settings.store.ts';
import { findUser } from '#server/admin/users/users.store.ts';
import type { EngineDeps, UserAccount } from '#server/deps.ts';
import {
  type CloseResult,
  closePosition,
  endClosing,
  findUnsettledClose,
} from '#server/engine/orders/close-position.ts';
import { findOpenTradePlatform, listOpenTrades } from '#server/engine/protection/positions.store.ts';
import type { AccountReader } from '#server/engine/protection/read-account.ts';
import { nearestTrade } from '#server/engine/protection/record-closings.ts';
import { describeHidden, tradesOfAccount } from '#server/engine/protection/trades-of-account.ts';
import { findWorkingTrade } from '#server/engine/records/trades.store.ts';
import { type Exchange, ExchangeError, type OpenPosition } from '#server/exchanges/exchange.ts';
import { AppError, required } from '#server/platform/http/errors.ts';
import { type Lease, LeaseLostError, withLeaseWithin } from '#server/platform/jobs/leases.ts';

const LEASE_PATIENCE_MS = 10_000;
const CLOSE_LIMIT_MS = 15_000;
const CLOSE_POLL_MS = 200;
const MOST_REFUSALS = 3;
/** A closing order that is still open after this time is cancelled, and another order closes the rest. */
const UNDER_WAY_LIMIT_MS = 3_000;

interface CloseTask {
  userId: string;
  token: string;
  requestedBy: string;
}

interface CloseWork extends CloseTask {
  deps: EngineDeps;
  exchange: Exchange;
  account: UserAccount;
  lease: Lease;
}

/**
 * Closes a user's position in a token at market for an operator. Allowed in every mode because it only reduces risk. The
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
  const account = await deps.findAccount(userId, platform);
  if (account === null) {
    const denial = await deps.accountGuard.deny(userId, platform);
    return refused((denial ?? deny('exchange_not_connected', { exchange: platform })).reason);
  }
  const exchange = deps.exchanges.get(platform);
  const key = { userId, exchangePlatform: platform };
  const holder = `${deps.config.instanceId} close ${token}`;
  const leased = await withLeaseWithin(
    { db: deps.db, key: `user:${userId}`, holder, log: deps.log, patienceMs: leasePatienceMs },
    (lease) => closeUnderLease({ ...task, deps, exchange, account, lease }),
  ).finally(() => reader.forget(key));
  if (!leased.held) {
    return refused('Another order of this user is being prepared or closed; try again in a moment');
  }
  // Read the account immediately, so that the outcome is recorded with the closing.
  await reader.read(key, 0).catch(() => undefined);
  return leased.result;
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

async function closeUnderLease(work: CloseWork): Promise<ClosePositionAnswer> {
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
    const result = await closeUntilFlat(work, position);
    const what = `The ${position.side} position of ${position.quantity} ${token} is closed`;
    if (result.outcome === 'flat') return closed(what, null);
    if (isClosed(result)) return closed(what, result.message);
    return refused(`The position in ${token} could not be closed: ${result.message}`);
  } catch (error) {
    if (error instanceof LeaseLostError) {
      return refused('Another instance has taken this user over; look at the position again');
    }
    if (!(error instanceof ExchangeError)) throw error;
    return refused(`The position in ${token} could not be closed: ${error.message}`);
  }
}

const closed = (what: string, but: string | null): ClosePositionAnswer => ({
  success: true,
  message: but === null ? what : `${what}, but ${but}`,
});

async function readTrades({ deps, exchange, account, userId }: CloseWork) {
  const trades = await listOpenTrades(deps.db, { userId, exchangePlatform: exchange.platform });
  return tradesOfAccount(deps, trades, account);
}

const isClosed = ({ outcome }: CloseResult) => ['flat', 'leftovers', 'other'].includes(outcome);

/** Repeats until the exchange reports the position closed, the time limit passes, or it has refused three times. */
async function closeUntilFlat(work: CloseWork, position: OpenPosition): Promise<CloseResult> {
  const { deps, exchange, account, token, requestedBy, lease } = work;
  const { here } = await readTrades(work);
  const tradeId = nearestTrade(here, position, deps.clock.now())?.id ?? null;
  const deadline = performance.now() + CLOSE_LIMIT_MS;
  let refusals = 0;
  for (;;) {
    const result = await closePosition(deps, {
      exchange,
      account,
      token,
      isMeant: (open) => isSamePosition(position, open),
      reason: CLOSE_REASONS.operator,
      tradeId,
      requestedBy,
      lease,
    });
    if (result.outcome === 'refused') refusals += 1;
    if (isClosed(result) || refusals >= MOST_REFUSALS || performance.now() > deadline) return result;
    await sleep(CLOSE_POLL_MS);
    await cancelWhatStaysOpen(work);
  }
}

/** Cancels a closing order that stays open. Its fills have reduced the position; the next order closes the rest. */
async function cancelWhatStaysOpen({ deps, exchange, account, userId, token }: CloseWork): Promise<void> {
  const underWay = await findUnsettledClose(deps.db, {
    userId,
    token,
    exchangePlatform: exchange.platform,
  });
  if (underWay === null) return;
  if (deps.clock.now().getTime() - underWay.createdAt.getTime() < UNDER_WAY_LIMIT_MS) return;
  await exchange.cancelOrder(account, { token, clientOrderId: underWay.clientOrderId });
}
