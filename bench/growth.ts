import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, type Figures, median, type Target } from './figures.ts';
import { measureIngest } from './ingest.ts';
import { fillLists } from './list-rows.ts';
import { CONNECTIONS, describeGenerator, sendLoad } from './load.ts';
import { type Cluster, type Program, withCluster, withDatabase, withProgram } from './program.ts';

interface Sizes {
  rounds: number;
  seconds: number;
  rows: { signals: number; priceLogs: number };
}

const FULL: Sizes = { rounds: 3, seconds: 10, rows: { signals: 50_000, priceLogs: 250_000 } };
const SHORT: Sizes = { rounds: 1, seconds: 2, rows: { signals: 500, priceLogs: 2_500 } };
const GROWTH = 10;
/** Up to the most and down again, so that what changes with the minutes falls on all of them alike. */
const INSTANCES = [1, 2, 3, 3, 2, 1];
/** The cost of an alert must not rise by more. */
const DEARER = 1.1;
/** For each instance: those that share the processors with others take as much longer to be warm. */
const WARM_UP_SECONDS = 4;
const QUIET = { AUTO_TRADE: 'disabled', WEBHOOK_RATE_LIMIT: '0' };

/** What an alert costs when there is ten times as much stored, and when several instances take alerts. */
export async function benchGrowth({ say, short }: BenchContext): Promise<BenchResult> {
  const sizes = short ? SHORT : FULL;
  const figures = createFigures();
  await growRows({ sizes, figures, say });
  await growInstances({ sizes, figures, say });
  await growPrograms({ sizes, figures, say });
  const { signals, priceLogs } = sizes.rows;
  return {
    bench: 'growth',
    about: `Candles with ten times the data stored, and with one, two and three instances on one PostgreSQL, ${CONNECTIONS} connections to each; beside it as many programs that share nothing`,
    figures: figures.all(),
    notes: [
      await describeGenerator(),
      `Stored before: ${signals.toLocaleString('en')} signals and ${priceLogs.toLocaleString('en')} price logs, and ten times of both.`,
      'The cost of an alert is the processor time of all programs and of the database for each. The instances share the processors with each other and the load generator, so their throughput does not add up on a small machine; the cost is what counts. Where the programs have a database each they share nothing but the processors: what that costs, an instance more costs as well.',
    ],
  };
}

interface Growing {
  sizes: Sizes;
  figures: Figures;
  say: BenchContext['say'];
}

async function growRows({ sizes, figures, say }: Growing): Promise<void> {
  const costs = new Map<number, number[]>();
  for (const times of [1, GROWTH]) {
    const signals = sizes.rows.signals * times;
    const priceLogs = sizes.rows.priceLogs * times;
    await withProgram(QUIET, async (program) => {
      await withDatabase(program, (client) =>
        fillLists(client, { signals, priceLogs, now: Date.now(), say }),
      );
      say(`growth: ingest with ${times} × the data`);
      const target = { ...program, servers: [program.server] };
      addTo(
        costs,
        times,
        await measureCosts({ targets: [target], name: `${times} × the data`, sizes, figures }),
      );
    });
  }
  addRatios(figures, costs, (times) => `cost with ${times} × the data`, { most: DEARER });
}

async function growInstances({ sizes, figures, say }: Growing): Promise<void> {
  const costs = new Map<number, number[]>();
  await withCluster({ instances: 1, env: QUIET }, async (cluster) => {
    for (const instances of INSTANCES) {
      while (cluster.programs.length < instances) await cluster.addProgram();
      while (cluster.programs.length > instances) await cluster.removeProgram();
      const name = nameInstances(instances);
      say(`growth: ingest with ${name}`);
      const target = { ...cluster, servers: cluster.programs };
      addTo(costs, instances, await measureCosts({ targets: [target], name, sizes, figures }));
    }
  });
  addRatios(figures, costs, (instances) => `cost with ${nameInstances(instances)}`, { most: DEARER });
}

/** What it costs that the processors are shared, and nothing else: as many programs, of which each has its own database. */
async function growPrograms({ sizes, figures, say }: Growing): Promise<void> {
  const costs = new Map<number, number[]>();
  await withClusters(Math.max(...INSTANCES), async (clusters) => {
    for (const programs of INSTANCES) {
      const name = namePrograms(programs);
      say(`growth: ingest with ${name}`);
      const targets = clusters
        .slice(0, programs)
        .map((cluster) => ({ ...cluster, servers: cluster.programs }));
      addTo(costs, programs, await measureCosts({ targets, name, sizes, figures }));
    }
  });
  addRatios(figures, costs, (programs) => `cost with ${namePrograms(programs)}`);
}

const nameInstances = (count: number) => `${count} ${count === 1 ? 'instance' : 'instances'}`;
const namePrograms = (count: number) =>
  count === 1 ? '1 program and database' : `${count} programs, a database each`;

function withClusters<Result>(
  count: number,
  work: (clusters: Cluster[]) => Promise<Result>,
  clusters: Cluster[] = [],
): Promise<Result> {
  if (clusters.length === count) return work(clusters);
  return withCluster({ instances: 1, env: QUIET }, (cluster) =>
    withClusters(count, work, [...clusters, cluster]),
  );
}

function addTo(costs: Map<number, number[]>, count: number, added: readonly number[]): void {
  costs.set(count, [...(costs.get(count) ?? []), ...added]);
}

/** Of each count to one. Left out where processor time cannot be read. */
function addRatios(
  figures: Figures,
  costs: ReadonlyMap<number, number[]>,
  nameOf: (count: number) => string,
  target?: Target,
): void {
  const one = costs.get(1) ?? [];
  for (const [count, values] of costs) {
    if (count === 1 || one.length === 0 || values.length === 0) continue;
    figures.add(nameOf(count), '×', median(values) / median(one), target);
  }
}

type Loaded = Pick<Program, 'hookKey' | 'postmaster'> & { servers: Program['server'][] };

/** What an alert costs in milliseconds of the processor, round by round. The targets are loaded at the same time. */
async function measureCosts(options: {
  targets: readonly Loaded[];
  name: string;
  sizes: Sizes;
  figures: Figures;
}): Promise<number[]> {
  const { targets, name, sizes, figures } = options;
  const servers = targets.flatMap((target) =>
    target.servers.map(({ url }) => ({ url, hookKey: target.hookKey })),
  );
  const seconds = WARM_UP_SECONDS * servers.length;
  await Promise.all(servers.map((server) => sendLoad({ ...server, kind: 'candle', seconds })));
  const costs: number[] = [];
  for (let round = 1; round <= sizes.rounds; round += 1) {
    const parts = await Promise.all(targets.map((target) => measureIngest(target, 'candle', sizes.seconds)));
    const rate = sum(parts.map((part) => part.rate));
    figures.add(`${name}: candles`, '/s', rate);
    figures.add(`${name}: answer p99`, 'ms', Math.max(...parts.map(({ load }) => load.p99)));
    const used = parts.flatMap((part) =>
      part.cpu ? [part.rate * (part.cpu.program + part.cpu.database)] : [],
    );
    if (used.length < parts.length) continue;
    costs.push(sum(used) / rate);
    figures.add(`${name}: cost of a candle`, 'ms', sum(used) / rate);
  }
  return costs;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
