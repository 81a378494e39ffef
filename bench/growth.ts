import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, type Figures, median } from './figures.ts';
import { measureIngest } from './ingest.ts';
import { fillLists } from './list-rows.ts';
import { CONNECTIONS, describeGenerator, sendLoad } from './load.ts';
import { type Program, withCluster, withDatabase, withProgram } from './program.ts';

interface Sizes {
  rounds: number;
  seconds: number;
  rows: { signals: number; priceLogs: number };
}

const FULL: Sizes = { rounds: 3, seconds: 10, rows: { signals: 50_000, priceLogs: 250_000 } };
const SHORT: Sizes = { rounds: 1, seconds: 2, rows: { signals: 500, priceLogs: 2_500 } };
const GROWTH = 10;
const MOST_INSTANCES = 3;
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
  const { signals, priceLogs } = sizes.rows;
  return {
    bench: 'growth',
    about: `Candles with ten times the data stored, and with one, two and three instances on one PostgreSQL, ${CONNECTIONS} connections to each`,
    figures: figures.all(),
    notes: [
      await describeGenerator(),
      `Stored before: ${signals.toLocaleString('en')} signals and ${priceLogs.toLocaleString('en')} price logs, and ten times of both.`,
      'The cost of an alert is the processor time of all programs and of the database for each. The instances share the processors with each other and the load generator, so their throughput does not add up on a small machine; the cost is what counts.',
    ],
  };
}

interface Growing {
  sizes: Sizes;
  figures: Figures;
  say: BenchContext['say'];
}

async function growRows({ sizes, figures, say }: Growing): Promise<void> {
  const costs: number[] = [];
  for (const times of [1, GROWTH]) {
    const signals = sizes.rows.signals * times;
    const priceLogs = sizes.rows.priceLogs * times;
    await withProgram(QUIET, async (program) => {
      await withDatabase(program, (client) =>
        fillLists(client, { signals, priceLogs, now: Date.now(), say }),
      );
      say(`growth: ingest with ${times} × the data`);
      const target = { ...program, servers: [program.server] };
      costs.push(await measureCost({ target, name: `${times} × the data`, sizes, figures }));
    });
  }
  addRatio(figures, `cost with ${GROWTH} × the data`, costs);
}

async function growInstances({ sizes, figures, say }: Growing): Promise<void> {
  await withCluster({ instances: 1, env: QUIET }, async (cluster) => {
    const costs: number[] = [];
    for (let instances = 1; instances <= MOST_INSTANCES; instances += 1) {
      if (instances > 1) await cluster.addProgram();
      const target = { ...cluster, servers: cluster.programs };
      const name = instances === 1 ? '1 instance' : `${instances} instances`;
      say(`growth: ingest with ${name}`);
      costs.push(await measureCost({ target, name, sizes, figures }));
      if (instances > 1) addRatio(figures, `cost with ${name}`, [costs[0], costs.at(-1)]);
    }
  });
}

/** The median cost of an alert in milliseconds of the processor. */
async function measureCost(options: {
  target: Pick<Program, 'hookKey' | 'postmaster'> & { servers: Program['server'][] };
  name: string;
  sizes: Sizes;
  figures: Figures;
}): Promise<number> {
  const { target, name, sizes, figures } = options;
  const { servers, hookKey } = target;
  const seconds = WARM_UP_SECONDS * servers.length;
  await Promise.all(servers.map(({ url }) => sendLoad({ url, hookKey, kind: 'candle', seconds })));
  const costs: number[] = [];
  for (let round = 1; round <= sizes.rounds; round += 1) {
    const { rate, load, cpu } = await measureIngest(target, 'candle', sizes.seconds);
    figures.add(`${name}: candles`, '/s', rate);
    figures.add(`${name}: answer p99`, 'ms', load.p99);
    if (cpu === null) continue;
    costs.push(cpu.program + cpu.database);
    figures.add(`${name}: cost of a candle`, 'ms', cpu.program + cpu.database);
  }
  return costs.length === 0 ? Number.NaN : median(costs);
}

/** Left out where processor time cannot be read. */
function addRatio(figures: Figures, name: string, [first, last]: (number | undefined)[]): void {
  const ratio = (last ?? Number.NaN) / (first ?? Number.NaN);
  if (Number.isFinite(ratio)) figures.add(name, '×', ratio, { most: DEARER });
}
