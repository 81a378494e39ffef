import { eq } from 'drizzle-orm';
import { eligibilityMode } from '#domain/eligibility/trading-mode.ts';
import { assessOrder, type OrderToAssess } from '#domain/orders/order-checks.ts';
import { denyStopped } from '#domain/orders/trading-stop.ts';
import { applyCustomEntryPrice } from '#domain/sizing/custom-entry.ts';
import type { Position } from '#domain/sizing/position.ts';
import { type Denial, deny } from '#domain/workflow/denials.ts';
import { findTradeStop } from '#server/admin/stops/trading-stops.store.ts';
import type { Deps } from '#server/deps.ts';
import {
  findStandingTrade,
  findTradeOfCalculation,
  findWorkingTrade,
} from '#server/engine/records/trades.store.ts';
import { openAccount } from '#server/engine/sizing/generate-position.ts';
import type { PositionGeneratorLogRow } from '#server/engine/sizing/position-generator.store.ts';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { users } from '#server/platform/db/schema.ts';

export type AssessmentDeps = Pick<
  Deps,
  'db' | 'clock' | 'config' | 'exchanges' | 'findAccount' | 'accountGuard'
>;

/** `position`: as it would be ordered now. `denial`: why it cannot be ordered. */
interface AssessedOrder {
  position: Position;
  denial: Denial | null;
}

/**
 * Assesses a calculated order by current facts, the same for preparation and submission. An exchange that does not
 * answer is a refusal.
 */
export async function assessCalculation(
  deps: AssessmentDeps,
  order: { log: PositionGeneratorLogRow; position: Position; customEntryPrice?: string | undefined },
): Promise<AssessedOrder> {
  const { log, position, customEntryPrice } = order;
  const [user] = await deps.db
    .select({ isActive: users.isActive, isTestUser: users.isTestUser })
    .from(users)
    .where(eq(users.id, log.userId));
  if (user === undefined) return { position, denial: deny('user_not_found', {}) };
  const stop = await findTradeStop(deps, log);
  const seen = await readExchange(deps, log);
  const { userId, token } = log;
  const [traded, standing, working] = [
    await findTradeOfCalculation(deps.db, log.id),
    await findStandingTrade(deps.db, log),
    await findWorkingTrade(deps.db, { userId, token }),
  ];
  const assessment = assessOrder({
    position,
    calculatedAt: log.createdAt,
    now: deps.clock.now(),
    livePrice: seen.livePrice,
    user,
    mode: eligibilityMode(deps.config.exchangeMode),
    hasCredentials: seen.hasCredentials,
    openPosition: seen.openPosition,
    openEntry: seen.openEntry || working !== null,
    alreadyTraded: traded !== null || standing !== null,
    isEstimate: log.isEstimate,
  });
  const ofOrder = assessment.valid ? seen.denial : moreExact(assessment.denial, seen.denial);
  const denial = stop === null ? ofOrder : denyStopped(stop);
  if (customEntryPrice === undefined || seen.livePrice === null) return { position, denial };
  const custom = applyCustomEntryPrice({ position, customEntryPrice, livePrice: seen.livePrice });
  if (custom.ok) return { position: custom.position, denial };
  return { position, denial: denial ?? custom.denial };
}

// Report the reason instead of a bare "no price".
const moreExact = (denial: Denial, ofExchange: Denial | null): Denial =>
  denial.code === 'live_price_unavailable' ? (ofExchange ?? denial) : denial;

type SeenAtExchange = Pick<OrderToAssess, 'livePrice' | 'hasCredentials' | 'openPosition' | 'openEntry'> & {
  denial: Denial | null;
};

async function readExchange(deps: AssessmentDeps, log: PositionGeneratorLogRow): Promise<SeenAtExchange> {
  const { userId, token, exchangePlatform } = log;
  const nothing = { livePrice: null, openPosition: false, openEntry: false };
  const opened = await openAccount(deps, { userId, exchangePlatform });
  if (!opened.ok) {
    const hasCredentials = opened.denial.code !== 'exchange_not_connected';
    return { ...nothing, hasCredentials, denial: opened.denial };
  }
  const { exchange, account, platform } = opened;
  // Wait for all three: a rejection that nobody awaits must not end as an unhandled rejection.
  const [ticker, position, openOrders] = await Promise.allSettled([
    exchange.fetchTicker(token, { viewerUserId: userId }),
    exchange.fetchPosition(account, token),
    exchange.fetchOpenOrders(account, token),
  ]);
  const failure = [ticker, position, openOrders].find((one) => one.status === 'rejected');
  if (failure !== undefined && !(failure.reason instanceof ExchangeError)) throw failure.reason;
  return {
    livePrice: answerOf(ticker)?.lastPrice ?? null,
    hasCredentials: true,
    openPosition: answerOf(position) != null,
    openEntry: (answerOf(openOrders) ?? []).length > 0,
    denial:
      failure === undefined
        ? null
        : deny('exchange_unavailable', { exchange: platform, message: failure.reason.message }),
  };
}

const answerOf = <Value>(settled: PromiseSettledResult<Value>): Value | null =>
  settled.status === 'fulfilled' ? settled.value : null;
