import type { ExchangeAnswer } from '../ccxt/call-scope.ts';
import type { CallPriority } from '../exchange.ts';

/** An exchange's request limits, as data, in requests per second. */
export interface RateLimits {
  /** For all users that share an address: our budget, below the exchange's limit. */
  egressPerSecond: number;
  /** Per user and endpoint, unless listed below. */
  userPerSecond: number;
  /** Per address and public endpoint. */
  publicPerSecond: number;
  /** Path endings with the limit per user. */
  endpoints: Readonly<Record<string, number>>;
  /** The limit refusal in an answer; null for any other answer. */
  refusalOf(answer: ExchangeAnswer, now: Date): LimitRefusal | null;
  /** What an answer reports of its account's endpoint; null if it reports nothing. */
  usageOf(answer: ExchangeAnswer, now: Date): LimitUsage | null;
}

/** The state of an account's endpoint. Other programs with keys of the account use the same limit. */
export interface LimitUsage {
  /** Requests a second; null if not reported. */
  perSecond: number | null;
  /** How many requests are left now. */
  left: number;
  /** When more are, if none are left. */
  resetMs: number;
}

/**
 * Too many requests. `address`: the exchange says that the address is limited, which concerns everybody. `account`: it
 * does not say so, and the account's endpoint is held; for a public request, that endpoint for the address.
 */
export interface LimitRefusal {
  of: 'account' | 'address';
  /** The wait that the exchange asked for; null if not stated. */
  waitMs: number | null;
}

/** The limit of an address: requests are spread out, with a short burst allowed. */
export interface EgressSlots {
  key: string;
  intervalMs: number;
  /** How far ahead of the clock the limit may run for a request of this priority. */
  roomMs: number;
}

/**
 * The limit of a user's endpoint: `most` requests in the window for this priority, counting those of all priorities.
 */
export interface BucketSlots {
  key: string;
  windowMs: number;
  most: number;
}

/** Highest first. */
export const PRIORITIES: readonly CallPriority[] = [
  'protect',
  'look-up',
  'place',
  'prepare',
  'follow',
  'background',
];

/** Lower ranks leave first. */
export const rankOf = (priority: CallPriority): number => PRIORITIES.indexOf(priority);

const PRIORITY_OF_TYPE: Readonly<Record<string, CallPriority>> = {
  'close-position': 'protect',
  'place-stop-loss': 'protect',
  'place-take-profit': 'protect',
  'place-protection': 'protect',
  'cancel-order': 'protect',
  'cancel-protection': 'protect',
  'place-order': 'place',
  account: 'prepare',
  balance: 'prepare',
  'spot-balance': 'prepare',
  'set-leverage': 'prepare',
  'set-margin-mode': 'prepare',
  'set-position-mode': 'prepare',
  'closed-positions': 'background',
  'closed-orders': 'background',
  ledger: 'background',
};

/**
 * Priorities: protection, closes and cancels before look-ups, look-ups before entries. An entry that is ready leaves
 * before the preparation of the next one, so that the first entry does not wait for the last.
 */
export const priorityOf = (type: string): CallPriority => PRIORITY_OF_TYPE[type] ?? 'look-up';

/** The share of an address's burst that all instances reserve for higher priorities. */
const KEPT_FROM: Readonly<Record<CallPriority, number>> = {
  protect: 0,
  'look-up': 0.25,
  place: 0.5,
  prepare: 0.5,
  follow: 0.5,
  background: 0.5,
};
const EGRESS_BURST_SECONDS = 0.25;

export function egressSlots(key: string, perSecond: number, priority: CallPriority): EgressSlots {
  const intervalMs = 1_000 / perSecond;
  const burst = Math.max(1, Math.floor(perSecond * EGRESS_BURST_SECONDS));
  const free = Math.max(1, Math.floor(burst * (1 - KEPT_FROM[priority])));
  return { key, intervalMs, roomMs: (free - 1) * intervalMs };
}

/** Requests sent apart may arrive together: the first one opens a connection that the next ones reuse. */
const ARRIVAL_JITTER_MS = 300;

/** Exchanges count a user's requests in a rolling second. Entries leave one request of it to a close. */
export function bucketSlots(key: string, perSecond: number, priority: CallPriority): BucketSlots {
  const isUrgent = rankOf(priority) <= rankOf('look-up');
  const most = Math.max(1, isUrgent ? perSecond : perSecond - 1);
  return { key, windowMs: 1_000 + ARRIVAL_JITTER_MS, most };
}

/** The endpoint's name and its limit per user. */
export function endpointOf(limits: RateLimits, path: string): { name: string; perSecond: number } {
  const known = Object.entries(limits.endpoints).find(([end]) => path.endsWith(end));
  if (known) return { name: known[0], perSecond: known[1] };
  return { name: path.replace(/^\/?(api\/)?/, ''), perSecond: limits.userPerSecond };
}

/** Bitget and Bybit do not document 418; elsewhere it means the same, more urgently. */
export const TOO_MANY_REQUESTS: ReadonlySet<number> = new Set([418, 429]);

/** `Retry-After` in seconds or as a date; null if missing or unreadable. */
export function retryAfterMs(answer: ExchangeAnswer, now: Date): number | null {
  const text = answer.headers['retry-after']?.trim();
  if (!text) return null;
  const seconds = Number(text);
  const waitMs = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(text) - now.getTime();
  return Number.isFinite(waitMs) && waitMs > 0 ? waitMs : null;
}
