import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { isWorkflowEnded, WORKFLOW_STATUSES } from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps, PoolFigures } from '#server/deps.ts';
import type { App } from '#server/platform/http/http-app.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { createEndedWork, type EndedWork, ORDER_OUTCOMES, SIGNAL_TO_ORDER_BUCKETS } from './ended-work.ts';
import { OPEN_FIGURES, type OpenFigure, type OpenWork, readOpenWork } from './open-work.ts';

const FRESH_MS = 5_000;
/** Less than the ten seconds after which Prometheus gives up. */
const PATIENCE_MS = 3_000;

type BoardDeps = Pick<
  Deps,
  | 'clock'
  | 'db'
  | 'pool'
  | 'enginePool'
  | 'deliveryPool'
  | 'jobs'
  | 'rightOfWay'
  | 'config'
  | 'log'
  | 'metrics'
  | 'freeSpace'
>;

interface Reading {
  open: OpenWork;
  ended: EndedWork;
}

/** Metrics for Prometheus (docs/operations.md). They contain no users, keys or tokens. */
export function registerMetricsRoutes(app: App, deps: Deps): void {
  const board = createBoardMetrics(deps);
  app.get('/metrics', { config: { access: 'metrics' }, schema: { hide: true } }, async (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .type(board.contentType)
      .send(await board.text()),
  );
}

/**
 * Adds figures of the database and of the process to the instance's counters. Reads the database at most once every five
 * seconds. While the database does not answer, its figures are left out and `signal_board_database_up` is 0.
 */
function createBoardMetrics(deps: BoardDeps): { text(): Promise<string>; contentType: string } {
  const { registry } = deps.metrics;
  const readEnded = createEndedWork(deps.db);
  let reading: Reading | null = null;
  let free: number | null = null;
  let readAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  let hasProcessFigures = false;

  async function read(): Promise<void> {
    try {
      reading = { open: await readOpenWork(deps.db, deps.config.exchangeMode), ended: await readEnded() };
    } catch (error) {
      deps.log.warn({ err: error }, 'the figures of the database could not be read');
      reading = null;
    }
    readAt = deps.clock.monotonicMs();
  }

  async function refresh(): Promise<void> {
    if (deps.clock.monotonicMs() - readAt < FRESH_MS) return;
    running ??= read().finally(() => {
      running = null;
    });
    const late = deps.clock.sleep(PATIENCE_MS).then(() => 'late');
    if ((await Promise.race([running, late])) === 'late') reading = null;
  }

  registerInstance(registry, deps);
  registerOpenWork(registry, () => reading?.open ?? null);
  registerEndedWork(registry, () => reading?.ended ?? null);
  addGauge(registry, {
    name: 'database_up',
    help: '1 when the database answered the last reading',
    values: () => [[{}, reading === null ? 0 : 1]],
  });
  addGauge(registry, {
    name: 'disk_free_ratio',
    help: 'The free part of the disk with the data folder of this instance, from 0 to 1',
    values: () => (free === null ? [] : [[{}, free]]),
  });

  return {
    contentType: registry.contentType,
    async text() {
      if (!hasProcessFigures) collectDefaultMetrics({ register: registry });
      hasProcessFigures = true;
      [free] = await Promise.all([deps.freeSpace(), refresh()]);
      return await registry.metrics();
    },
  };
}

/** A gauge that reads its values on each scrape. Series without a value are left out instead of showing a stale one. */
function addGauge(
  registry: Registry,
  gauge: {
    name: string;
    help: string;
    labels?: string[];
    values: () => (readonly [labels: Record<string, string>, value: number])[];
  },
): void {
  const { name, help, labels = [], values } = gauge;
  new Gauge({
    name: `signal_board_${name}`,
    help,
    labelNames: labels,
    registers: [registry],
    collect() {
      if (labels.length === 0) this.remove();
      else this.reset();
      for (const [series, value] of values()) this.set(series, value);
    },
  });
}

function registerInstance(registry: Registry, deps: BoardDeps): void {
  const { jobs, rightOfWay, config } = deps;
  const info = {
    version: manifest.version,
    exchange_mode: config.exchangeMode,
    automatic_trading: config.autoTrade.enabled ? 'on' : 'off',
  };
  addGauge(registry, {
    name: 'info',
    help: 'Always 1; its labels say what runs',
    labels: Object.keys(info),
    values: () => [[info, 1]],
  });
  registerPools(registry, {
    requests: deps.pool,
    engine: deps.enginePool,
    deliveries: deps.deliveryPool,
  });
  const waiting =
    'Jobs of this instance that have not begun because more deliveries come than it has time for';
  const beside =
    'Of these, jobs that gave their worker to another one while a slow account keeps them waiting';
  for (const [name, help, value] of [
    ['engine_running', '1 when this instance takes jobs', () => Number(jobs.isRunning())],
    ['jobs_giving_way', waiting, () => rightOfWay.waiting()],
    ['jobs_active', 'Jobs that this instance works on', () => jobs.activity().activeJobs],
    ['jobs_beside', beside, () => jobs.activity().besideJobs],
  ] as const) {
    addGauge(registry, { name, help, values: () => [[{}, value()]] });
  }
}

/** Per pool: a sum would hide that one of them is exhausted. */
function registerPools(registry: Registry, pools: Record<string, PoolFigures>): void {
  const perPool = (figure: (pool: PoolFigures) => number) => () =>
    Object.entries(pools).map(([pool, figures]) => [{ pool }, figure(figures)] as const);
  addGauge(registry, {
    name: 'database_connections',
    help: 'Connections of each pool, by whether something uses them',
    labels: ['pool', 'state'],
    values: () =>
      Object.entries(pools).flatMap(([pool, { idleCount, totalCount }]) => [
        [{ pool, state: 'idle' }, idleCount] as const,
        [{ pool, state: 'busy' }, totalCount - idleCount] as const,
      ]),
  });
  addGauge(registry, {
    name: 'database_connections_max',
    help: 'Connections that each pool may open',
    labels: ['pool'],
    values: perPool((pool) => pool.options.max),
  });
  addGauge(registry, {
    name: 'database_waiting',
    help: 'Requests, deliveries or steps of the engine that wait for a connection of their pool',
    labels: ['pool'],
    values: perPool((pool) => pool.waitingCount),
  });
}

function registerOpenWork(registry: Registry, latest: () => OpenWork | null): void {
  for (const [name, help] of Object.entries(OPEN_FIGURES)) {
    addGauge(registry, {
      name,
      help: `${help}, of all instances`,
      values: () => {
        const open = latest();
        return open === null ? [] : [[{}, open.figures[name as OpenFigure]]];
      },
    });
  }
  for (const [name, help, key] of [
    ['jobs_waiting', 'Jobs that are due and not taken', 'waiting'],
    ['job_oldest_seconds', 'How long the oldest job has been due', 'oldestSeconds'],
  ] as const) {
    addGauge(registry, {
      name,
      help: `${help}, of all instances`,
      labels: ['queue'],
      values: () => (latest()?.queues ?? []).map((one) => [{ queue: one.queue }, one[key]]),
    });
  }
}

const TRIGGERS = ['automatic', 'manual'] as const;

function registerEndedWork(registry: Registry, latest: () => EndedWork | null): void {
  const counters = [
    {
      name: 'workflows_total',
      help: 'Workflows that have ended',
      labels: { trigger: TRIGGERS, status: WORKFLOW_STATUSES.filter(isWorkflowEnded) },
      read: ({ workflows }: EndedWork) => workflows,
    },
    {
      name: 'orders_total',
      help: 'Orders that have come to their end',
      labels: { platform: EXCHANGE_PLATFORMS, trigger: TRIGGERS, outcome: ORDER_OUTCOMES },
      read: ({ orders }: EndedWork) => orders,
    },
    {
      name: 'unprotected_closes_total',
      help: 'Orders to close a position whose stop loss could not be placed',
      labels: { platform: EXCHANGE_PLATFORMS },
      read: ({ unprotectedCloses }: EndedWork) => unprotectedCloses,
    },
  ];
  for (const { name, help, labels, read } of counters) {
    new Counter({
      name: `signal_board_${name}`,
      help: `${help}, of all instances since the first day`,
      labelNames: Object.keys(labels),
      registers: [registry],
      collect() {
        this.reset();
        const ended = latest();
        if (ended === null) return;
        // Start every series at 0: increase() misses the first event of a series that starts with it.
        for (const series of combinationsOf(labels)) this.inc(series, 0);
        for (const { count, ...series } of read(ended)) this.inc(series, count);
      },
    });
  }
  registerSignalToOrder(registry, () => latest()?.signalToOrder ?? null);
}

function combinationsOf(labels: Record<string, readonly string[]>): Record<string, string>[] {
  return Object.entries(labels).reduce<Record<string, string>[]>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}],
  );
}

/** A histogram with sums from the database; the library has no support for that. */
function registerSignalToOrder(registry: Registry, latest: () => EndedWork['signalToOrder'] | null): void {
  const name = 'signal_board_signal_to_order_seconds';
  const help =
    'From the arrival of a signal to its first order on the way, automatic orders of all instances since the first day';
  const values = () => {
    const waits = latest();
    if (waits === null) return [];
    let upTo = 0;
    const buckets = [...SIGNAL_TO_ORDER_BUCKETS, '+Inf'].map((le, index) => {
      upTo += waits.find(({ bucket }) => bucket === index)?.count ?? 0;
      return { metricName: `${name}_bucket`, labels: { le }, value: upTo };
    });
    const seconds = waits.reduce((sum, wait) => sum + wait.seconds, 0);
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, value: seconds },
      { metricName: `${name}_count`, labels: {}, value: upTo },
    ];
  };
  const source = new Gauge({ name, help, registers: [] });
  registry.registerMetric(
    Object.assign(source, {
      get: async () => ({ name, help, type: 'histogram', aggregator: 'omit', values: values() }),
    }),
  );
}
