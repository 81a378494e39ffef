import { z } from 'zod';

export const accountBalance = z.object({
  success: z.literal(true),
  data: z.object({
    exchangePlatform: z.string(),
    futuresBalance: z.string(),
    spotBalance: z.string(),
    displayFuturesBalance: z.string(),
    displaySpotBalance: z.string(),
    futuresAvailable: z.string(),
    spotAvailable: z.string(),
    futuresLocked: z.string(),
    /** The margin that positions hold, with their unrealised profit: neither available nor locked. */
    futuresInPositions: z.string(),
    spotLocked: z.string(),
    displayFuturesAvailable: z.string(),
    displaySpotAvailable: z.string(),
  }),
});
export type AccountBalanceAnswer = z.infer<typeof accountBalance>;

const customEntryPrice = z
  .union([z.string().max(40), z.number()])
  .transform(String)
  .refine(
    (text) => /^\d{1,12}(\.\d{1,8})?$/.test(text),
    'Entry price must be a number with at most 8 decimals',
  );

export const prepareBody = z.object({
  positionGeneratorLogId: z.uuid(),
  /** Prepares the order with the operator's entry price. */
  customEntryPrice: customEntryPrice.optional(),
});

export const preparedOrder = z.object({
  validation: z.object({ preAssessment: z.object({ valid: z.boolean(), reason: z.string().nullable() }) }),
  positionDetails: z.object({
    token: z.string(),
    action: z.enum(['buy', 'sell']),
    entryPrice: z.string(),
    /** USDT. */
    quantity: z.string(),
    assetQuantity: z.string(),
    leverage: z.number(),
    stopLoss: z.string(),
    takeProfit: z.string(),
    riskPercentage: z.string(),
    investment: z.string(),
  }),
  userSettings: z.object({ exchangePlatform: z.string(), activeTrading: z.boolean() }),
  inputParameters: z.object({
    marketType: z.string(),
    calculationBehavior: z.string(),
    /** The method of the calculation; the user's settings may have changed since. */
    positionSizingMethod: z.string(),
  }),
  apiEndpoint: z.string(),
  exchange: z.string(),
  /** The request to the exchange, without secrets. */
  orderPayload: z.record(z.string(), z.unknown()),
});
export type PreparedOrder = z.infer<typeof preparedOrder>;

const refusal = { success: z.literal(false), error: z.string(), message: z.string(), details: z.string() };

export const prepareAnswer = z.discriminatedUnion('success', [
  z.object({ success: z.literal(true), message: z.string(), data: preparedOrder }),
  z.object({ ...refusal, data: z.null() }),
]);
export type PrepareAnswer = z.infer<typeof prepareAnswer>;

export const submitOrderBody = z.object({
  positionGeneratorLogId: z.uuid(),
  triggerType: z.literal('manual').default('manual'),
  customEntryPrice: customEntryPrice.optional(),
});
export const processBody = z.object({ positionGeneratorLogId: z.uuid() });

export const apiCall = z.object({
  type: z.string(),
  method: z.string(),
  endpoint: z.string(),
  timestamp: z.string(),
  requestData: z.unknown(),
  responseData: z.unknown(),
  success: z.boolean(),
  status: z.number().nullable(),
});
export type ApiCall = z.infer<typeof apiCall>;

export const verificationAttempt = z.object({
  attempt: z.number(),
  state: z.string(),
  price: z.string(),
  quantity: z.string(),
  filledQuantity: z.string(),
  averagePrice: z.string().nullable(),
  orderId: z.string().nullable(),
  error: z.string().nullable(),
});

/** Progress of a manual order; the shape is the same while it runs and when it is done. */
export const orderResult = z.object({
  tradeId: z.string(),
  positionGeneratorLogId: z.string(),
  /** False while it runs. */
  done: z.boolean(),
  success: z.boolean(),
  message: z.string(),
  error: z.string().nullable(),
  orderId: z.string().nullable(),
  clientOid: z.string().nullable(),
  positionRef: z.string().nullable(),
  fillStatus: z.enum(['filled', 'partial', 'unfilled', 'unknown']).nullable(),
  protectionStatus: z.enum(['verified', 'repaired', 'closed', 'missing']).nullable(),
  requestData: z.unknown(),
  responseData: z.unknown(),
  apiCallSequence: z.array(apiCall),
  verificationJourney: z.object({
    attempts: z.array(verificationAttempt),
    isFilled: z.boolean(),
    firstOrderFilled: z.boolean(),
    secondAttemptExecuted: z.boolean(),
    nextAttemptReady: z.boolean(),
    timeline: z.array(z.string()),
  }),
  technicalDetails: z.object({
    firstOrderFilled: z.boolean(),
    secondAttemptExecuted: z.boolean(),
    endpoint: z.string(),
    /** Milliseconds. */
    executionTime: z.number(),
    attempts: z.number(),
    isSecondAttempt: z.boolean(),
  }),
});
export type OrderResult = z.infer<typeof orderResult>;

/** Flat. Sent when the order is done or after 90 s; GET …/orders/{tradeId} reports the progress. */
export const submitOrderAnswer = z.union([orderResult, z.object(refusal)]);
export type SubmitOrderAnswer = z.infer<typeof submitOrderAnswer>;

export const orderParams = z.object({ tradeId: z.uuid() });
export const orderOfCalculationQuery = z.object({ positionGeneratorLogId: z.uuid() });
/** GET /api/position-maker/orders?positionGeneratorLogId= : the order of a calculation, or null. */
export const orderOfCalculation = z.object({ order: orderResult.nullable() });

/** An unsettled order that cannot be looked up at its exchange; `problem` says why. */
export const orderInDoubt = z.object({
  tradeId: z.string(),
  userId: z.string(),
  username: z.string(),
  exchangePlatform: z.string(),
  token: z.string(),
  side: z.enum(['buy', 'sell']),
  quantity: z.string(),
  createdAt: z.string(),
  problem: z.string(),
});
export type OrderInDoubt = z.infer<typeof orderInDoubt>;
export const ordersInDoubt = z.object({ orders: z.array(orderInDoubt) });
export type OrdersInDoubt = z.infer<typeof ordersInDoubt>;

export const positionMakerWorker = z.object({
  workerId: z.string(),
  /** The instance that runs the worker. */
  instanceId: z.string(),
  isActive: z.boolean(),
  currentTasks: z.number(),
  maxConcurrent: z.number(),
  processedTasks: z.number(),
  lastActivity: z.string().nullable(),
});
export const positionMakerStatus = z.object({
  isRunning: z.boolean(),
  threadManager: z.object({
    activeWorkers: z.number(),
    totalWorkers: z.number(),
    processingTasks: z.number(),
    completedTasks: z.number(),
  }),
  workers: z.array(positionMakerWorker),
  health: z.object({
    /** Workflows that wait to begin. */
    queue: z.number(),
    /** Orders of the last hour that have ended, what part of them failed, and how long 95 % of them took at most. */
    endedOrders: z.number(),
    errorRate: z.number().nullable(),
    latencyP95Ms: z.number().nullable(),
    /** Instances with an active worker. */
    instances: z.number(),
  }),
});
export type PositionMakerStatus = z.infer<typeof positionMakerStatus>;

export const executionLog = z.object({
  id: z.string(),
  taskId: z.string(),
  userId: z.string(),
  username: z.string(),
  token: z.string(),
  exchangePlatform: z.string(),
  success: z.boolean(),
  error: z.string().nullable(),
  orderId: z.string().nullable(),
  submittedAt: z.string(),
});
export const executionLogs = z.object({ logs: z.array(executionLog) });
export type ExecutionLogs = z.infer<typeof executionLogs>;

export const restartBody = z.object({});
export const restartAnswer = z.object({ success: z.literal(true), message: z.string() });
