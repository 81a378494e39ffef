import { z } from 'zod';
import { KEY_STATES, TRADING_STATES } from '#domain/trading-state.ts';
import type { OutcomeKind } from '#domain/workflow/outcome-kinds.ts';

/** Whether new positions are opened for a user, and why not. */
export const userTradingState = z.object({
  userId: z.string(),
  state: z.enum(TRADING_STATES),
  /** While `state` is `paused` or `outside_hours`: when it ends. */
  pausedUntil: z.string().nullable(),
  /** Why the user is halted or the key is refused; null otherwise. */
  reason: z.string().nullable(),
});
export type UserTradingState = z.infer<typeof userTradingState>;
const listedState = userTradingState.extend({
  /** USDT of the account the user trades at, as recorded within the last 3 hours; null without that. */
  equity: z.string().nullable(),
  equityAt: z.string().nullable(),
  /** After fees, of the positions closed in the last 7 times 24 hours. */
  net7d: z.string(),
});
export type ListedTradingState = z.infer<typeof listedState>;
/** GET /api/trading-states (administrators): all users. */
export const tradingStatesAnswer = z.object({ states: z.array(listedState) });
export type TradingStatesAnswer = z.infer<typeof tradingStatesAnswer>;

/** Closed positions, after fees, in USDT. Positions whose result the exchange has not told are only counted. */
const netResult = z.object({
  amount: z.string(),
  /** Before fees. */
  gross: z.string(),
  trades: z.number(),
  unknown: z.number(),
});

export const overviewAccount = userTradingState.extend({
  username: z.string(),
  exchangePlatform: z.string(),
  /** USDT of the futures account, open profit included, as last read; null when it could not be read. */
  equity: z.string().nullable(),
  equityAt: z.string().nullable(),
  /** Of all the user's accounts. */
  net7d: z.string(),
  /** The value of the open positions at their marks, in USDT; null while they cannot be read. */
  exposure: z.string().nullable(),
  /** What the user's limit allows, in USDT; null without a limit. */
  exposureLimit: z.string().nullable(),
  openPositions: z.number(),
  key: z.enum(KEY_STATES),
  /** Why the account could not be read; null when it was. */
  unread: z.string().nullable(),
});
export type OverviewAccount = z.infer<typeof overviewAccount>;

export const ACTIVITY_KINDS = ['closed', 'opened', 'signal', 'halted', 'resumed'] as const;
/** A sentence: `who` `text` `amount`. */
export const activity = z.object({
  id: z.string(),
  at: z.string(),
  kind: z.enum(ACTIVITY_KINDS),
  who: z.string(),
  text: z.string(),
  /** Profit after fees in USDT; null where the sentence has none. */
  amount: z.string().nullable(),
});
export type Activity = z.infer<typeof activity>;

const count = z.number();
const outcomeCounts = z.object({
  running: count,
  filled: count,
  partial: count,
  not_filled: count,
  skipped: count,
  aborted: count,
  failed: count,
} satisfies Record<OutcomeKind, typeof count>);

/** GET /api/overview (administrators: all accounts) and GET /api/my-overview (the caller's own). */
export const overviewAnswer = z.object({
  at: z.string(),
  exchangeMode: z.enum(['paper', 'demo', 'live']),
  /** Since midnight in the display time zone. */
  netToday: netResult,
  /** Of the last 7 times 24 hours, like the rates. */
  net7d: netResult,
  /** Open positions of the accounts that could be read. */
  open: z.object({
    profit: z.string(),
    positions: z.number(),
    users: z.number(),
    /** What all stops would lose from the present marks. */
    riskToStops: z.string(),
    /** What the limit of all entries (or the user's own) allows; null without a limit. */
    riskLimit: z.string().nullable(),
    withoutStop: z.number(),
    /** Accounts whose positions are missing in these sums. */
    unread: z.number(),
  }),
  /** The sum of known equities; null when none is known. */
  equity: z.string().nullable(),
  /** Closed positions with a known result, and those with a profit after fees. */
  wins: z.object({ won: z.number(), trades: z.number() }),
  /** Orders that have ended, and those with a fill. */
  fills: z.object({ filled: z.number(), orders: z.number() }),
  /** Signals received since midnight in the display time zone by what came of them; null for other users. */
  outcomesToday: outcomeCounts.nullable(),
  accounts: z.array(overviewAccount),
  /** Newest first. */
  activity: z.array(activity),
});
export type OverviewAnswer = z.infer<typeof overviewAnswer>;
