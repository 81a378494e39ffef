import { availableForSizing, estimateBalance, isBalanceFresh } from '#domain/sizing/balance.ts';
import { acceptClientPrice } from '#domain/sizing/reference-price.ts';
import { estimatedTokenRules, type TokenRules } from '#domain/sizing/token-rules.ts';
import { FALLBACK_ACCOUNT_BALANCE, FALLBACK_AVAILABLE_RATIO } from '#domain/sizing/trading-constants.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import type { Deps } from '#server/deps.ts';
import {
  type MarketFacts,
  type OpenedAccount,
  openAccount,
  readTokenRules,
} from '#server/engine/sizing/generate-position.ts';
import {
  findLastBalance,
  rememberBalance,
  sumUnknownMargin,
} from '#server/engine/sizing/position-generator.store.ts';
import { retryRead } from '#server/engine/sizing/read-price.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import type { CurrentPrice, CurrentPrices } from './current-price.ts';

/*
 * Inputs of the calculator. It is more lenient than a workflow: without a live price it uses the signal price, and
 * without a balance the last real one or, failing that, a fallback balance. I5 still holds:
 * 1. A fallback balance yields an estimate, which is marked as such and cannot be submitted.
 * 2. A balance read earlier is valid for a minute, less everything that was ordered since.
 */

export type CalculatorDeps = Pick<
  Deps,
  'db' | 'clock' | 'config' | 'exchanges' | 'findAccount' | 'accountGuard' | 'log'
> & {
  prices: CurrentPrices;
};

export interface CalculatorFacts extends MarketFacts {
  isEstimate: boolean;
  /** Tell the operator where the figures come from; sentences without a full stop. */
  notices: string[];
}

export async function readCalculatorFacts(
  deps: CalculatorDeps,
  request: {
    token: string;
    userId: string;
    exchangePlatform: string;
    /** The caller's live price. */
    clientPrice?: string | undefined;
  },
): Promise<{ ok: true; facts: CalculatorFacts } | { ok: false; denial: Denial }> {
  const { token, userId } = request;
  const opened = await openAccount(deps, request, { evenUninspected: true });
  if (!opened.ok) return opened;
  const { exchange, platform } = opened;
  const [current, rules, balance] = await Promise.all([
    deps.prices.read({ exchange, token, viewerUserId: userId }),
    readRules(deps, opened, { token, userId }),
    readBalance(deps, opened),
  ]);
  if (rules === null) return { ok: false, denial: deny('token_not_listed', { token, exchange: platform }) };
  const problem = rules === 'unknown' ? undefined : rules.entryProblem;
  if (problem !== undefined) {
    return { ok: false, denial: deny('contract_closed', { token, exchange: platform, problem }) };
  }
  const price = chooseLivePrice(current, request.clientPrice);
  // Without the contract's rules no order is possible, so the result is an estimate.
  const sizing =
    rules === 'unknown' ? estimate(`${platform} did not tell the contract of ${token}`) : balance;
  return {
    ok: true,
    facts: {
      livePrice: price.livePrice,
      livePriceProblem: price.problem,
      rules: rules === 'unknown' ? estimatedTokenRules(token, price.livePrice) : rules,
      availableBalance: sizing.available,
      balanceNote: sizing.note,
      isEstimate: sizing.isEstimate,
      // Show only the estimate's own notice, so that nobody mistakes it for a real calculation.
      notices: (sizing.isEstimate ? [sizing.notice] : [price.notice, sizing.notice]).filter(
        (one) => one !== null,
      ),
    },
  };
}

/** Accepts the client's price only if it is close to the server's live price. */
function chooseLivePrice(current: CurrentPrice, clientPrice: string | undefined) {
  if (!current.ok) {
    const notice = `The signal price is used: ${current.problem}`;
    return { livePrice: null, problem: current.problem, notice };
  }
  const serverPrice = current.price;
  if (clientPrice === undefined) return { livePrice: serverPrice, problem: null, notice: null };
  if (acceptClientPrice({ clientPrice, serverPrice })) {
    return { livePrice: clientPrice, problem: null, notice: null };
  }
  const notice = `The price ${clientPrice} of the request is not within 1% of the live price ${serverPrice}, which is used instead`;
  return { livePrice: serverPrice, problem: null, notice };
}

async function readRules(
  deps: CalculatorDeps,
  { exchange }: OpenedAccount,
  { token, userId }: { token: string; userId: string },
): Promise<TokenRules | null | 'unknown'> {
  try {
    return await readTokenRules(deps, exchange, token, userId);
  } catch (error) {
    if (error instanceof ExchangeError) return 'unknown';
    throw error;
  }
}

interface SizingBalance {
  available: string;
  note: string | null;
  notice: string | null;
  isEstimate: boolean;
}

const BALANCE_TRIES = 2;

async function readBalance(
  deps: CalculatorDeps,
  { exchange, account, platform }: OpenedAccount,
): Promise<SizingBalance> {
  const owner = { userId: account.userId, exchangePlatform: platform };
  const readAt = deps.clock.now();
  // Read before the balance: an order accepted in between then counts twice instead of not at all.
  const committed = await sumUnknownMargin(deps.db, owner);
  try {
    const { futuresAvailable } = await retryRead(deps, () => exchange.fetchBalance(account), BALANCE_TRIES);
    await rememberBalance(deps.db, { ...owner, futuresAvailable, readAt });
    const available = availableForSizing({ available: futuresAvailable, unreportedMargins: [committed] });
    return { available, note: null, notice: null, isEstimate: false };
  } catch (error) {
    if (!(error instanceof ExchangeError)) throw error;
    deps.log.warn({ err: error, userId: account.userId }, 'balance unavailable');
    return (await lastBalance(deps, owner)) ?? estimate(`${platform} did not tell the balance`);
  }
}

async function lastBalance(
  deps: CalculatorDeps,
  owner: { userId: string; exchangePlatform: string },
): Promise<SizingBalance | null> {
  const last = await findLastBalance(deps.db, owner);
  const now = deps.clock.now();
  if (last === null || !isBalanceFresh({ readAt: last.readAt, now })) return null;
  const ordered = await sumUnknownMargin(deps.db, { ...owner, balanceReadAt: last.readAt });
  const seconds = Math.max(0, Math.round((now.getTime() - last.readAt.getTime()) / 1000));
  return {
    available: availableForSizing({ available: last.futuresAvailable, unreportedMargins: [ordered] }),
    note: `the balance call failed, so the real account balance that was read ${seconds} s ago is used`,
    notice: `API Integration failed: the balance could not be read now, so the real account balance of ${seconds} s ago is used`,
    isEstimate: false,
  };
}

function estimate(cause: string): SizingBalance {
  const available = estimateBalance();
  return {
    available,
    note: `${cause}: an estimate with the fallback balance ${FALLBACK_ACCOUNT_BALANCE} × ${FALLBACK_AVAILABLE_RATIO}, which cannot be submitted`,
    notice: `This is an estimate with a fallback balance of ${available} USDT: ${cause}. It cannot be submitted`,
    isEstimate: true,
  };
}
