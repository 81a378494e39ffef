import { Counter, collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import { EXCHANGE_PLATFORMS } from '#domain/user-settings.ts';
import { isWorkflowEnded, WORKFLOW_STATUSES } from '#domain/workflow/workflow-lifecycle.ts';
import type { Deps, PoolFigures } from '#server/deps.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { createEndedWork, type EndedWork, ORDER_OUTCOMES, SIGNAL_TO_ORDER_BUCKETS } from './ended-work.ts';
import { type OpenWork, readOpenWork } from './open-work.ts';

const FRESH_MS = 5_000;
/** A scraper gives up after ten seconds; a database that is away is told within less. */
const PATIENCE_MS = 3_000;

type BoardDeps = Pick<
  Deps,
  'db' | 'pool' | 'enginePool' | 'deliveryPool' | 'jobs' | 'rightOfWay' | 'config' | 'log' | 'metrics'
>;

interface Reading {
  open: OpenWork;
  ended: EndedWork;
}

/**
 * Adds to what the instance counts what the database knows, and how the process does. The database is read at most
 * once in five seconds however many ask, and when it does not answer its figures are left out and
 * `signal_board_database_up` says so.
 */
export function createBoardMetrics(deps: BoardDeps): { text(): Promise<string>; contentType: string } {
  const { registry } = deps.metrics;
  const readEnded = createEndedWork(deps.db);
  let reading: Reading | null = null;
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
    readAt = performance.now();
  }

  async function refresh(): Promise<void> {
    if (performance.now() - readAt < FRESH_MS) return;
    running ??= read().finally(() => {
      running = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        reading = null;
        resolve();
      }, PATIENCE_MS);
    });
    await Promise.race([running, late]);
    clearTimeout(timer);
  }

  registerInstance(registry, deps);
  registerOpenWork(registry, () => reading?.open ?? null);
  registerEndedWork(registry, () => reading?.ended ?? null);
  new Gauge({
    name: 'signal_board_database_up',
    help: '1 when the database answered the last reading',
    registers: [registry],
    collect() {
      this.set(reading === null ? 0 : 1);
    },
  });

  return {
    contentType: registry.contentType,
    async text() {
      if (!hasProcessFigures) collectDefaultMetrics({ register: registry });
      hasProcessFigures = true;
      await refresh();
      return await registry.metrics();
    },
  };
}

function registerInstance(registry: Registry, deps: BoardDeps): void {
  const { jobs, rightOfWay, config } = deps;
  const registers = [registry];
  new Gauge({
    name: 'signal_board_info',
    help: 'Always 1; its labels say what runs',
    labelNames: ['version', 'exchange_mode', 'automatic_trading'],
    registers,
  }).set(
    {
      version: manifest.version,
      exchange_mode: config.exchangeMode,
      automatic_trading: config.autoTrade.enabled ? 'on' : 'off',
    },
    1,
  );
  registerPools(registry, {
    requests: deps.pool,
    engine: deps.enginePool,
    deliveries: deps.deliveryPool,
  });
  new Gauge({
    name: 'signal_board_engine_running',
    help: '1 when this instance takes jobs',
    registers,
    collect() {
      this.set(jobs.isRunning() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'signal_board_jobs_giving_way',
    help: 'Jobs of this instance that have not begun because more deliveries come than it has time for',
    registers,
    collect() {
      this.set(rightOfWay.waiting());
    },
  });
  new Gauge({
    name: 'signal_board_jobs_active',
    help: 'Jobs that this instance works on',
    registers,
    collect() {
      this.set(jobs.activity().activeJobs);
    },
  });
}

/** The figures of one pool say nothing about the others. */
function registerPools(
  registry: Registry,
  pools: Record<'requests' | 'engine' | 'deliveries', PoolFigures>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'signal_board_database_connections',
    help: 'Connections of each pool, by whether something uses them',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [name, pool] of Object.entries(pools)) {
        this.set({ pool: name, state: 'idle' }, pool.idleCount);
        this.set({ pool: name, state: 'busy' }, pool.totalCount - pool.idleCount);
      }
    },
  });
  new Gauge({
    name: 'signal_board_database_connections_max',
    help: 'Connections that each pool may open',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [name, pool] of Object.entries(pools)) this.set({ pool: name }, pool.options.max);
    },
  });
  new Gauge({
    name: 'signal_board_database_waiting',
    help: 'Requests, deliveries or steps of the engine that wait for a connection of their pool',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [name, pool] of Object.entries(pools)) this.set({ pool: name }, pool.waitingCount);
    },
  });
}

function registerOpenWork(registry: Registry, latest: () => OpenWork | null): void {
  const registers = [registry];
  const figures: [name: string, help: string, read: (open: OpenWork) => number][] = [
    ['workflows_unfinished', 'Workflows that have not ended', (open) => open.unfinishedWorkflows],
    [
      'workflow_oldest_seconds',
      'Age of the oldest workflow that has not ended',
      (open) => open.oldestWorkflowSeconds,
    ],
    ['orders_unfinished', 'Orders that have not come to their end', (open) => open.unfinishedOrders],
    [
      'orders_unknown',
      'Orders of which it is not known whether the exchange has them',
      (open) => open.unknownOrders,
    ],
    ['positions_open', 'Positions opened here that are not known to be closed', (open) => open.openPositions],
    [
      'positions_unprotected',
      'Positions opened here without a verified stop loss',
      (open) => open.unprotectedPositions,
    ],
    ['users_halted', 'Users whose trading is halted', (open) => open.haltedUsers],
    ['instances', 'Instances on this database that are alive', (open) => open.instances],
  ];
  for (const [name, help, read] of figures) {
    new Gauge({
      name: `signal_board_${name}`,
      help: `${help}, of all instances`,
      registers,
      collect() {
        const open = latest();
        // Without its value a gauge says nothing, which is the truth; an old one would not be.
        if (open === null) this.remove();
        else this.set(read(open));
      },
    });
  }
  const queueFigures: [name: string, help: string, key: 'waiting' | 'oldestSeconds'][] = [
    ['jobs_waiting', 'Jobs that are due and not taken', 'waiting'],
    ['job_oldest_seconds', 'How long the oldest job has been due', 'oldestSeconds'],
  ];
  for (const [name, help, key] of queueFigures) {
    new Gauge({
      name: `signal_board_${name}`,
      help: `${help}, of all instances`,
      labelNames: ['queue'],
      registers,
      collect() {
        this.reset();
        for (const one of latest()?.queues ?? []) this.set({ queue: one.queue }, one[key]);
      },
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
        // A series that begins with its first event hides that event from increase().
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

/** A histogram whose observations were made in the database: the library has no door for ready sums. */
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
