import { judgeUser } from '../eligibility/eligibility.ts';
import type { EligibilityInput, EligibilityUser } from '../eligibility/eligibility-rules.ts';
import { autoTradeOff } from '../eligibility/trading-mode.ts';
import type { Room } from '../limits/check-entry.ts';
import { fitPosition } from '../limits/fit-position.ts';
import { denyStopped, type TradingStop } from '../orders/trading-stop.ts';
import { calculatePosition, type PositionInput, type PositionResult } from '../sizing/position.ts';
import { planPosition } from '../sizing/position-plan.ts';
import { signalPriceDeviates } from '../sizing/reference-price.ts';
import type { TokenRules } from '../sizing/token-rules.ts';
import type { TradingSettings } from '../user-settings.ts';
import { denyCanary } from './canary.ts';
import { type Denial, deny } from './denials.ts';
import { isSignalExpired } from './workflow-lifecycle.ts';

/*
 * The decisions on one user in a workflow as pure functions of what they saw, so that each can be computed again from
 * its record: whether the user trades the signal, and with which position.
 */

/** What the selection of users saw of one user. */
export interface SelectionSeen extends Omit<EligibilityInput, 'users'> {
  user: EligibilityUser;
}

/** What the exchange answered about a token. */
export interface MarketReading {
  /** In USDT; null when no price came. */
  livePrice: string | null;
  /** Why no price came, if the exchange said so: a clause without a full stop. */
  priceProblem?: string | null;
  /** How old the price was when the position was computed from it, since it was asked for. */
  priceAgeMs?: number;
  /** Null when the exchange does not list the token. */
  rules: TokenRules | null;
  /** Why the exchange could not say its rules. */
  rulesProblem: string | null;
}

export interface Market {
  livePrice: string | null;
  rules: TokenRules;
}

/** What a position is sized from. */
export interface SizedFrom {
  /** Null without an account. */
  market: MarketReading | null;
  /** Available for sizing, in USDT; null when it was not read. */
  balance: string | null;
  /** A note on a balance that was not just read: a clause without a full stop. */
  balanceNote: string | null;
  /** Why the account could not be read: a sentence without a full stop. */
  accountProblem: string | null;
}

export const NOTHING_READ: SizedFrom = {
  market: null,
  balance: null,
  balanceNote: null,
  accountProblem: null,
};

/** When a workflow took up its user, and under which settings of the program. */
export interface Timeliness {
  trigger: 'automatic' | 'manual';
  appEnv: string;
  autoTrade: { enabled: boolean };
  receivedAt: Date;
  startsAt: Date;
  maxAgeMinutes: number;
}

/** What the sizing of one user's position saw, in the order in which it refuses. */
export interface SizingSeen extends Pick<PositionInput, 'signal' | 'profile' | 'priceLog'>, SizedFrom {
  /** A live, filled or doubtful order of the user for the signal. */
  alreadyTraded: boolean;
  timeliness: Timeliness;
  /** The stop of new entries that covers the order. */
  tradingStop: TradingStop | null;
  /** What happened to the strategy's first users, if that keeps the others from trading; a clause. */
  canaryFailed: string | null;
  /** Why there is no usable account. */
  accountDenial: Denial | null;
  /** Another order or a position in the token that keeps the signal away: a sentence without a full stop. */
  blocker: string | null;
  /** The stored candle that `priceLog` is from. */
  candleId: string | null;
  settings: TradingSettings;
  /** Why the order was refused when it was to be committed: permission withdrawn, or traded meanwhile. */
  refusedAtCommit: string | null;
  /** What risk limits left for the order when it was committed, where they make orders smaller; null: all. */
  fitTo: Room | null;
}

export type SizingOutcome = Extract<PositionResult, { ok: true }> | { ok: false; reason: string };

/** The decision on one user of a signal. */
export const judgeSelection = ({ user, ...input }: SelectionSeen) =>
  judgeUser(user, { ...input, users: [user] }).decision;

/** Why a workflow is too late for a user, or no longer wanted; null when it is neither. */
export function denyOutdated(timeliness: Timeliness): Denial | null {
  const { trigger, receivedAt, startsAt, maxAgeMinutes } = timeliness;
  if (trigger !== 'automatic') return null;
  const off = autoTradeOff(timeliness);
  if (off !== null) return deny('auto_trading_disabled', off);
  if (!isSignalExpired({ receivedAt, startsAt, maxAgeMinutes })) return null;
  const ageMinutes = ((startsAt.getTime() - receivedAt.getTime()) / 60_000).toFixed(1);
  return deny('signal_expired', { ageMinutes, maxAgeMinutes: String(Number(maxAgeMinutes.toFixed(2))) });
}

/** I5: without a price or rules there is no position, never a guess. */
export function judgeMarket(
  { livePrice, priceProblem = null, rules, rulesProblem }: MarketReading,
  { signal, exchange }: { signal: { token: string; price: string }; exchange: string },
): { ok: true; market: Market } | { ok: false; denial: Denial } {
  const refuse = (denial: Denial) => ({ ok: false as const, denial });
  const { token } = signal;
  if (livePrice === null) {
    const why = priceProblem === null ? {} : { problem: priceProblem };
    return refuse(deny('live_price_unavailable', { token, ...why }));
  }
  const deviation = signalPriceDeviates({ signalPrice: signal.price, livePrice });
  if (deviation !== null) return refuse(deviation);
  if (rulesProblem !== null) return refuse(deny('exchange_unavailable', { exchange, message: rulesProblem }));
  if (rules === null) return refuse(deny('token_not_listed', { token, exchange }));
  const { entryProblem } = rules;
  if (entryProblem !== undefined)
    return refuse(deny('contract_closed', { token, exchange, problem: entryProblem }));
  return { ok: true, market: { livePrice, rules } };
}

/** The position of one user, or why there is none. */
export function judgeSizing(seen: SizingSeen): SizingOutcome {
  const refused = (reason: string) => ({ ok: false as const, reason });
  if (seen.alreadyTraded) return refused(deny('already_traded', {}).reason);
  const outdated = denyOutdated(seen.timeliness);
  if (outdated !== null) return refused(outdated.reason);
  if (seen.tradingStop !== null) return refused(denyStopped(seen.tradingStop).reason);
  if (seen.canaryFailed !== null) return refused(denyCanary(seen.canaryFailed).reason);
  const { accountDenial, blocker, market, balance, balanceNote, accountProblem } = seen;
  const { signal, settings, priceLog, profile } = seen;
  if (accountDenial !== null) return refused(accountDenial.reason);
  if (blocker !== null) return refused(blocker);
  if (market === null) return refused('Nothing was read from the exchange');
  const judged = judgeMarket(market, { signal, exchange: settings.exchangePlatform });
  if (!judged.ok) return refused(judged.denial.reason);
  const input = { signal, settings, priceLog, profile, ...judged.market };
  const planned = planPosition(input);
  if (!planned.ok) return refused(planned.denial.reason);
  if (balance === null) return refused(accountProblem ?? 'The account was not read');
  const result = calculatePosition({ ...input, availableBalance: balance, balanceNote });
  if (!result.ok) return refused(result.denial.reason);
  if (seen.refusedAtCommit !== null) return refused(seen.refusedAtCommit);
  if (seen.fitTo === null) return result;
  const position = fitPosition(result.position, seen.fitTo);
  return position === null ? refused('Nothing fits the risk limits') : { ok: true, position };
}
