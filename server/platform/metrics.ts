import { Counter, Histogram, Registry } from 'prom-client';

/** The counts of this instance; the rest is read from the database. No user, token, key or text becomes a label. */
export interface Metrics {
  registry: Registry;
  delivered(delivery: { kind: DeliveryKind; result: DeliveryResult; seconds: number }): void;
  rowsDeleted(table: string, rows: number): void;
  exchangeCalled(call: { platform: string; operation: string; result: CallResult; seconds: number }): void;
}

const DELIVERY_KINDS = ['signal', 'candle'] as const;
export type DeliveryKind = (typeof DELIVERY_KINDS)[number];

/** `failed`: an unexpected error. */
const DELIVERY_RESULTS = [
  'stored',
  'duplicate',
  'refused',
  'limited',
  'not-stored',
  'unknown-key',
  'forbidden-address',
  'failed',
] as const;
export type DeliveryResult = (typeof DELIVERY_RESULTS)[number];

/** `no-answer` may have been executed; `unreachable` and `not-sent` certainly were not. */
export type CallResult =
  | 'success'
  | 'refused'
  | 'rate-limited'
  | 'server-error'
  | 'no-answer'
  | 'unreachable'
  | 'not-sent';

/** TradingView hangs up after three seconds. */
const ACKNOWLEDGEMENT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 2.5, 3, 5];
const CALL_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const deliveries = new Counter({
    name: 'signal_board_deliveries_total',
    help: 'Webhook deliveries that this instance answered, by kind and result',
    labelNames: ['kind', 'result'],
    registers,
  });
  const acknowledgements = new Histogram({
    name: 'signal_board_delivery_acknowledgement_seconds',
    help: 'From the head of a webhook delivery to its answer',
    labelNames: ['kind'],
    buckets: ACKNOWLEDGEMENT_BUCKETS,
    registers,
  });
  const calls = new Counter({
    name: 'signal_board_exchange_calls_total',
    help: 'Requests of this instance to exchanges, by what they ask and what came back',
    labelNames: ['platform', 'operation', 'result'],
    registers,
  });
  const callSeconds = new Histogram({
    name: 'signal_board_exchange_call_seconds',
    help: 'From a request to an exchange to the end of its answer',
    labelNames: ['platform'],
    buckets: CALL_BUCKETS,
    registers,
  });
  const deletedRows = new Counter({
    name: 'signal_board_rows_deleted_total',
    help: 'Rows that this instance deleted because they were older than they are kept, by table',
    labelNames: ['table'],
    registers,
  });
  // Start at 0: increase() does not see the first event of a new series.
  for (const kind of DELIVERY_KINDS) {
    for (const result of DELIVERY_RESULTS) deliveries.inc({ kind, result }, 0);
  }
  return {
    registry,
    delivered({ kind, result, seconds }) {
      deliveries.inc({ kind, result });
      acknowledgements.observe({ kind }, seconds);
    },
    rowsDeleted(table, rows) {
      deletedRows.inc({ table }, rows);
    },
    exchangeCalled({ platform, operation, result, seconds }) {
      calls.inc({ platform, operation, result });
      if (result !== 'not-sent') callSeconds.observe({ platform }, seconds);
    },
  };
}
