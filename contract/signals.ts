import { z } from 'zod';
import { userOutcome, workflowOutcome } from './outcome.ts';
import { filterInstant, filterText, pagingQuery, sortedQuery } from './paging.ts';

export const SIGNALS_PAGE_SIZE = 100;
/** `buy` and `sell` open a position; `close` and `reduce` leave one. */
export const SIGNAL_ACTIONS = ['buy', 'sell', 'close', 'reduce'] as const;

export const signal = z.object({
  id: z.string(),
  token: z.string(),
  action: z.enum(SIGNAL_ACTIONS),
  price: z.string(),
  currency: z.string(),
  timeframe: z.string(),
  processor: z.string(),
  signalTimeTradingview: z.string().nullable(),
  signalTimeServer: z.string().nullable(),
  receivedAt: z.string(),
  hashValue: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  workflowId: z.string().nullable(),
  workflowStatus: z.string().nullable(),
  workflowError: z.string().nullable(),
  /** Of several workflows, the one that the row shows. */
  workflowTrigger: z.enum(['automatic', 'manual']).nullable(),
  /** Null without a workflow. */
  outcome: workflowOutcome.nullable(),
  eligibleUsersCount: z.number(),
  successfulUsersCount: z.number(),
  totalTrades: z.number(),
  successfulTrades: z.number(),
  automaticCount: z.number(),
  manualCount: z.number(),
  stopLoss: z.string().nullable(),
  takeProfit: z.string().nullable(),
});
export type Signal = z.infer<typeof signal>;

export const signalsQuery = pagingQuery(SIGNALS_PAGE_SIZE).extend({
  ...sortedQuery.shape,
  token: filterText,
  action: filterText.pipe(z.enum(SIGNAL_ACTIONS).optional()),
  processor: filterText,
  timeframe: filterText,
  /** Only rows received up to this instant, so new arrivals do not shift the pages. */
  until: filterInstant,
});
export const signalsAnswer = z.object({ signals: z.array(signal), total: z.number() });
export type SignalsAnswer = z.infer<typeof signalsAnswer>;

export const signalDetail = signal.extend({
  priceLogId: z.string().nullable(),
  priceLogHash: z.string().nullable(),
  /** False: the price log is missing because price logs of that time are no longer kept. */
  priceLogsKept: z.boolean(),
  originalTimeTrading: z.string().nullable(),
  candleTimeServer: z.string().nullable(),
  receivedAtServer: z.string(),
});
export type SignalDetail = z.infer<typeof signalDetail>;

export const signalStats = z.object({
  totalSignals: z.number(),
  todaySignals: z.number(),
  buySignals: z.number(),
  sellSignals: z.number(),
  /** The last 30 days in the display time zone, up to today; `day` is yyyy-MM-dd. */
  perDay: z.array(z.object({ day: z.string(), count: z.number() })),
});
export type SignalStats = z.infer<typeof signalStats>;

export const trade = z.object({
  id: z.string(),
  success: z.boolean(),
  /** Null while the order is in progress or in doubt. */
  fillStatus: z.enum(['filled', 'partial', 'unfilled', 'unknown']).nullable(),
  state: z.string(),
  error: z.string().nullable(),
  userId: z.string(),
  username: z.string(),
  exchangePlatform: z.string(),
  orderId: z.string().nullable(),
  createdAt: z.string(),
  exchangeResponse: z
    .object({
      symbol: z.string(),
      priceAvg: z.string().nullable(),
      size: z.string().nullable(),
      side: z.string(),
      fee: z.string().nullable(),
    })
    .nullable(),
  orderPayload: z.object({ symbol: z.string() }).loose(),
});
export type Trade = z.infer<typeof trade>;
export const trades = z.array(trade);

export const stopLevelsRecord = z.object({
  username: z.string(),
  positionSizingMethod: z.string(),
  entryPrice: z.string(),
  stopLoss: z.string(),
  takeProfit: z.string(),
  investment: z.string(),
  leverage: z.number(),
  riskPercentage: z.string(),
  calculationReason: z.string(),
  calculationDetail: z.string(),
});
export const stopLevelsAnswer = z.object({ hasData: z.boolean(), sltpData: z.array(stopLevelsRecord) });
export type StopLevelsAnswer = z.infer<typeof stopLevelsAnswer>;

export const userEligibility = z.object({
  id: z.string(),
  username: z.string(),
  status: z.string(),
  reason: z.string(),
});
export type UserEligibility = z.infer<typeof userEligibility>;

/** `outcome` is null for users who were not eligible or whose decision was not recorded. */
export const userResult = userEligibility.extend({ outcome: userOutcome.nullable() });
export type UserResult = z.infer<typeof userResult>;

/** 'recorded' by the workflow that the signal's row shows workflow; otherwise why the decision was made now instead. */
const decisionBasis = z.enum(['recorded', 'workflow ended', 'workflow under way', 'no workflow']);
export type DecisionBasis = z.infer<typeof decisionBasis>;
/** All users in one response have the same basis. */
export const signalUser = userResult.extend({
  basis: decisionBasis,
  /** The workflow that recorded the decision. */
  workflowId: z.string().nullable(),
});
export type SignalUser = z.infer<typeof signalUser>;
export const signalUsers = z.array(signalUser);

export const signalWorkflow = z.object({
  workflowId: z.string(),
  id: z.string(),
  status: z.string(),
  outcome: workflowOutcome,
  startedAt: z.string(),
  completedAt: z.string().nullable(),
  successfulUsersCount: z.number(),
  eligibleUsersCount: z.number(),
  errorMessage: z.string().nullable(),
  triggerReason: z.string().nullable(),
});
export const signalWorkflows = z.object({
  signalId: z.string(),
  automaticCount: z.number(),
  manualCount: z.number(),
  automaticWorkflows: z.array(signalWorkflow),
  manualWorkflows: z.array(signalWorkflow),
});
export type SignalWorkflows = z.infer<typeof signalWorkflows>;

export const checkEligibilityBody = z.object({ signalId: z.uuid() });

const layer = z.object({ name: z.string(), count: z.number() });
export const eligibilityBreakdown = z.object({
  signalId: z.string(),
  processor: z.string(),
  currentMode: z.enum(['sandbox', 'live']),
  finalEligibleUsers: z.number(),
  breakdown: z.object({ layer1: layer, layer2: layer, layer3: layer, layer4: layer }),
  eligibleUsers: z.array(z.object({ id: z.string(), username: z.string(), isTestUser: z.boolean() })),
  decisions: z.array(
    userEligibility.extend({
      rule: z.string(),
      saw: z.string(),
      wanted: z.string(),
      layer: z.number().nullable(),
    }),
  ),
});
export type EligibilityBreakdown = z.infer<typeof eligibilityBreakdown>;

/** The user whose decision is explained; `workflowId` defaults to the one that the signal's row shows. */
export const whyParams = z.object({ id: z.uuid(), userId: z.uuid() });
export const whyQuery = z.object({ workflowId: z.uuid().optional() });

const eligibilityCheck = z.object({
  layer: z.number(),
  rule: z.string(),
  result: z.enum(['passed', 'failed', 'not reached']),
  /** Null when unknown: the rule was not reached, or a recorded decision passed it. */
  saw: z.string().nullable(),
  wanted: z.string().nullable(),
});

const explainedDecision = z.object({
  status: z.enum(['eligible', 'not eligible']),
  reason: z.string(),
  /** The deciding rule with its values; `checks` lists every rule in order of evaluation. */
  rule: z.string(),
  saw: z.string(),
  wanted: z.string(),
  checks: z.array(eligibilityCheck),
});
export type ExplainedDecision = z.infer<typeof explainedDecision>;

export const whyAnswer = z.object({
  signalId: z.string(),
  user: z.object({
    id: z.string(),
    username: z.string(),
    isActive: z.boolean(),
    isTestUser: z.boolean(),
    createdAt: z.string(),
  }),
  workflow: z
    .object({
      workflowId: z.string(),
      trigger: z.enum(['automatic', 'manual']),
      status: z.string(),
      outcome: workflowOutcome,
      createdAt: z.string(),
      /** When the workflow selected its users; null when it never did. */
      selectedAt: z.string().nullable(),
    })
    .nullable(),
  conclusion: z.object({
    outcome: z.enum(['traded', 'in progress', 'not eligible', 'skipped', 'failed', 'not considered']),
    text: z.string(),
  }),
  /** The workflow's own record; null when it never considered the user. */
  decidedThen: explainedDecision.nullable(),
  decidedNow: explainedDecision,
  /** The user's steps in that workflow. */
  steps: z.array(
    z.object({
      stepNumber: z.number(),
      stepName: z.string(),
      status: z.string(),
      errorMessage: z.string().nullable(),
      startedAt: z.string().nullable(),
      completedAt: z.string().nullable(),
    }),
  ),
  /** All orders of the user for the signal, newest first. */
  trades: z.array(
    z.object({
      id: z.string(),
      /** Null for an order from the position calculator. */
      workflowId: z.string().nullable(),
      ofThisWorkflow: z.boolean(),
      state: z.string(),
      success: z.boolean().nullable(),
      fillStatus: z.enum(['filled', 'partial', 'unfilled', 'unknown']).nullable(),
      error: z.string().nullable(),
      orderId: z.string().nullable(),
      createdAt: z.string(),
    }),
  ),
});
export type WhyAnswer = z.infer<typeof whyAnswer>;

/** `computed` is null for a field that was changed in the database. */
const differingField = z.object({
  userId: z.uuid(),
  field: z.string(),
  recorded: z.string().nullable(),
  computed: z.string().nullable(),
});
export type DifferingField = z.infer<typeof differingField>;

/** Every decision of a signal, computed again from its record. */
export const verifiedDecisions = z.object({
  decisions: z.int(),
  identical: z.int(),
  differing: z.array(differingField),
  /** The trading constants have changed since. */
  rulesDiffer: z.boolean(),
});
export type VerifiedDecisions = z.infer<typeof verifiedDecisions>;
