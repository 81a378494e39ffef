import { D, roundHalfUp } from '../decimal.ts';

/** What one user's execution of a signal is made of. Instants in milliseconds since 1970; null: did not happen. */
export interface ExecutionFacts {
  userId: string;
  username: string;
  /** Place in the order of trading: decides between orders of the same millisecond. */
  position: number | null;
  side: 'buy' | 'sell';
  storedAt: number | null;
  decidedAt: number | null;
  /** When the first order was about to leave. */
  sentAt: number | null;
  acceptedAt: number | null;
  filledAt: number | null;
  protectedAt: number | null;
  /** How long the exchange took to answer the first accepted order, without waiting for limits; null: not accepted. */
  answerMs: number | null;
  fillPrice: string | null;
  signalPrice: string;
  entryPrice: string | null;
  requests: number;
}

/** Milliseconds from receipt; null: did not happen. */
export interface UserExecution {
  userId: string;
  username: string;
  stored: number | null;
  decided: number | null;
  sent: number | null;
  accepted: number | null;
  filled: number | null;
  protected: number | null;
  /** Basis points, two decimals; positive: filled at a worse price. */
  slippageSignalBps: string | null;
  slippageEntryBps: string | null;
  requests: number;
  /** From 1, in the order in which first orders were sent; null: none was. */
  rank: number | null;
  /**
   * What the time until the exchange accepted the order went to, in ms: our own queue and decisions, limits of requests,
   * the exchange's answer. Null: not accepted.
   */
  spent: { queue: number; limits: number; exchange: number } | null;
}

export interface SignalExecution {
  /** Milliseconds from receipt; null without orders, or fills. */
  firstOrder: number | null;
  lastOrder: number | null;
  /** From the first to the last fill. */
  spreadOfFills: number | null;
  sent: Quantiles | null;
  filled: Quantiles | null;
  /** Users whose order was accepted later than twice the median and 250 ms after it, slowest first. */
  late: { userId: string; username: string; accepted: number; mostly: 'queue' | 'limits' | 'exchange' }[];
}

export interface Quantiles {
  p50: number;
  p95: number;
}

const LATE_FACTOR = 2;
const LATE_BY_MS = 250;

/** The execution of a signal that was received at `receivedAt`. Users in the order of their first orders, then by name. */
export function reportExecution(
  receivedAt: number,
  facts: readonly ExecutionFacts[],
): { signal: SignalExecution; users: UserExecution[] } {
  const bySent = facts
    .filter(({ sentAt }) => sentAt !== null)
    .sort((a, b) => (a.sentAt ?? 0) - (b.sentAt ?? 0) || (a.position ?? 0) - (b.position ?? 0));
  const ranks = new Map(bySent.map(({ userId }, index) => [userId, index + 1]));
  const users = facts.map((one) => executionOf(receivedAt, one, ranks.get(one.userId) ?? null));
  users.sort(
    (a, b) =>
      (a.rank ?? Number.POSITIVE_INFINITY) - (b.rank ?? Number.POSITIVE_INFINITY) ||
      (a.username < b.username ? -1 : 1),
  );
  const known = (of: (user: UserExecution) => number | null) =>
    users.flatMap((user) => of(user) ?? []).sort((a, b) => a - b);
  const [sent, fills] = [known((user) => user.sent), known((user) => user.filled)];
  const [firstFill, lastFill] = [fills[0], fills.at(-1)];
  return {
    signal: {
      firstOrder: sent[0] ?? null,
      lastOrder: sent.at(-1) ?? null,
      spreadOfFills: firstFill === undefined || lastFill === undefined ? null : lastFill - firstFill,
      sent: quantilesOf(sent),
      filled: quantilesOf(fills),
      late: lateUsers(users),
    },
    users,
  };
}

function executionOf(receivedAt: number, facts: ExecutionFacts, rank: number | null): UserExecution {
  const after = (at: number | null) => (at === null ? null : Math.max(0, at - receivedAt));
  const [sent, accepted] = [after(facts.sentAt), after(facts.acceptedAt)];
  const { side, fillPrice, signalPrice, entryPrice } = facts;
  return {
    userId: facts.userId,
    username: facts.username,
    stored: after(facts.storedAt),
    decided: after(facts.decidedAt),
    sent,
    accepted,
    filled: after(facts.filledAt),
    protected: after(facts.protectedAt),
    slippageSignalBps: slippageBps(side, fillPrice, signalPrice),
    slippageEntryBps: slippageBps(side, fillPrice, entryPrice),
    requests: facts.requests,
    rank,
    spent: sent === null || accepted === null ? null : splitTime(sent, accepted, facts.answerMs ?? 0),
  };
}

function splitTime(sent: number, accepted: number, answerMs: number) {
  const exchange = Math.min(answerMs, accepted - sent);
  return { queue: sent, limits: accepted - sent - exchange, exchange };
}

/** How much worse than wanted, in basis points with two decimals; null without a fill or a wanted price. */
export function slippageBps(side: 'buy' | 'sell', fill: string | null, wanted: string | null): string | null {
  if (fill === null || wanted === null || D(wanted).isZero()) return null;
  const worse = side === 'buy' ? D(fill).minus(wanted) : D(wanted).minus(fill);
  return roundHalfUp(worse.times(10_000).div(wanted), 2);
}

/** Of ascending values: the value that half, and 95 % of them, do not exceed. */
function quantilesOf(values: readonly number[]): Quantiles | null {
  const at = (percent: number) => values[Math.ceil((values.length * percent) / 100) - 1];
  const [p50, p95] = [at(50), at(95)];
  return p50 === undefined || p95 === undefined ? null : { p50, p95 };
}

function lateUsers(users: readonly UserExecution[]): SignalExecution['late'] {
  const accepted = users.flatMap((user) => user.accepted ?? []).sort((a, b) => a - b);
  const median = quantilesOf(accepted)?.p50 ?? 0;
  const limit = Math.max(median * LATE_FACTOR, median + LATE_BY_MS);
  return users
    .flatMap(({ userId, username, accepted: at, spent }) =>
      at === null || spent === null || at <= limit
        ? []
        : [{ userId, username, accepted: at, mostly: mostOf(spent) }],
    )
    .sort((a, b) => b.accepted - a.accepted);
}

function mostOf({
  queue,
  limits,
  exchange,
}: NonNullable<UserExecution['spent']>): 'queue' | 'limits' | 'exchange' {
  if (queue >= limits && queue >= exchange) return 'queue';
  return limits >= exchange ? 'limits' : 'exchange';
}
