import { D } from '../decimal.ts';
import { slippageBps } from '../results/execution.ts';
import { type Denial, deny } from './denials.ts';

/**
 * The canary of a strategy: the first users in the order of trading go first, and the others follow once those are
 * filled and protected in time and at a good price. Otherwise nobody else gets an order.
 */
export interface CanarySettings {
  /** How many users go first. */
  users: number;
  /** Counted from the first order that was sent. */
  withinSeconds: number;
  /** The largest adverse difference between signal price and average fill, in hundredths of a percent. */
  maxSlippageBps: number;
}

export type CanaryState = 'waiting' | 'passed' | 'failed';

/** A user who goes first, as the database shows the user's part of the workflow. */
export interface CanaryUser {
  /** Place in the order of trading. */
  position: number;
  /** The part has ended. */
  hasEnded: boolean;
  order: CanaryOrder | null;
}

export interface CanaryOrder {
  /** Null while it is in progress. */
  completedAt: Date | null;
  success: boolean | null;
  error: string | null;
  averagePrice: string | null;
  protectionStatus: string | null;
}

export type CanaryVerdict =
  /** Users up to this place in the order of trading may trade. */
  | { state: 'waiting'; upTo: number }
  | { state: 'passed' }
  /** `reason`: a clause without a full stop. */
  | { state: 'failed'; reason: string };

interface CanaryInput {
  settings: CanarySettings;
  signal: { action: 'buy' | 'sell'; price: string };
  /** The first users who were not skipped, at most as many as go first, in the order of trading. */
  users: readonly CanaryUser[];
  /** Null before the first order was sent. */
  dueAt: Date | null;
  /** Whether that time has passed. */
  isDue: boolean;
}

/** Whether the others may follow. An order whose stop the exchange did not keep fails, even if it was repaired. */
export function judgeCanary(input: CanaryInput): CanaryVerdict {
  const { users } = input;
  const problems = users.flatMap((user, index) => {
    const problem = findProblem(input, user);
    return problem === null ? [] : [`canary ${index + 1} of ${users.length} ${problem}`];
  });
  const [reason] = problems;
  if (reason !== undefined) return { state: 'failed', reason };
  const last = users.at(-1);
  const isOver = users.every(({ order }) => order !== null && order.completedAt !== null);
  return last === undefined || isOver ? { state: 'passed' } : { state: 'waiting', upTo: last.position };
}

function findProblem(
  { settings, signal, dueAt, isDue }: CanaryInput,
  { order, hasEnded }: CanaryUser,
): string | null {
  const { withinSeconds, maxSlippageBps } = settings;
  if (order === null) {
    if (hasEnded) return 'got no order, because its processing failed';
    return isDue ? `had no order within ${withinSeconds} s of the first one` : null;
  }
  const { completedAt, averagePrice } = order;
  if (completedAt === null) {
    return isDue ? `was not filled and protected within ${withinSeconds} s of the first order` : null;
  }
  if (order.success !== true) return `failed: ${order.error ?? 'the order failed'}`;
  if (order.protectionStatus !== 'verified') {
    return 'was filled, but the exchange did not keep the stop of its order';
  }
  if (dueAt !== null && completedAt > dueAt) {
    return `was filled and protected later than ${withinSeconds} s after the first order`;
  }
  if (averagePrice === null) return 'was filled at a price that is not known';
  const bps = slippageBps(signal.action, averagePrice, signal.price);
  return bps === null || D(bps).gt(maxSlippageBps)
    ? `was filled at ${averagePrice}, ${bps} bps worse than the signal price ${signal.price}, the limit is ${maxSlippageBps} bps`
    : null;
}

/** Why a user behind a canary that failed is not traded. */
export const denyCanary = (what: string): Denial => deny('canary_failed', { what });
