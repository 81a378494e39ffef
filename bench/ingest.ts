import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CONNECTIONS,
  describeGenerator,
  type Loaded,
  loadedBy,
  measureLoad,
  requireAllAnswered,
  sendLoad,
} from './deliveries.ts';
import { type Bench, type BenchContext, median, sum, type Target } from './figures.ts';
import {
  BARE_SERVER,
  baseline,
  type Cluster,
  count,
  cpuSeconds,
  databaseUrl,
  inRounds,
  millisecondsEach,
  type Program,
  runChild,
  UNLIMITED,
  withCluster,
  withDatabase,
  withFolder,
  withProgram,
  withServer,
} from './harness.ts';
import { fillLists } from './lists.ts';

/** Deliveries per second, beside pgbench on the same database and servers without one, measured in the same minute. */
export const ingest: Bench = {
  about: 'deliveries a second, beside pgbench and servers without a database',
  takes: '6 minutes',
  async run(context) {
    const { add, short } = context;
    const sizes = short
      ? { rounds: 1, seconds: 4, baselineSeconds: 2, warmUpSeconds: 1 }
      : { rounds: 3, seconds: 30, baselineSeconds: 8, warmUpSeconds: 3 };
    const pgbench = await runChild('pgbench', ['--version'], { limitMs: 10_000 }).then(
      (version) => version.trim(),
      () => null,
    );
    let left = 0;

    /** Loads a baseline server with candles; returns answers per second. */
    async function measureServer(what: string, hookKey: string, own: Parameters<typeof withServer>[0]) {
      return await withServer(own, async ({ url, pid }) => {
        const load = { url, hookKey, kind: 'candle' } as const;
        await sendLoad({ ...load, seconds: sizes.warmUpSeconds });
        const before = await cpuSeconds([pid]);
        const measured = await sendLoad({ ...load, seconds: sizes.baselineSeconds });
        const after = await cpuSeconds([pid]);
        requireAllAnswered(what, measured);
        add(what, '/s', measured.answered / measured.seconds);
        const used = before === null || after === null ? null : after - before;
        add(`${what}, processor time for each`, 'ms', millisecondsEach(used, measured.answered));
        return measured.answered / measured.seconds;
      });
    }

    async function measureRound(program: Program): Promise<void> {
      const { postmaster, hookKey, server } = program;
      const commits = pgbench === null ? null : await measureCommits(program, sizes);
      add('pgbench, one row inserted, 10 clients', 'commits/s', commits);
      await createDatabase(program, 'nothing');
      const env = { DATABASE_URL: databaseUrl(postmaster, 'nothing') };
      const bare = await measureServer('bare node:http', hookKey, { args: [...BARE_SERVER, '0'] });
      const routeServer = { args: baseline('route'), env };
      const route = await measureServer('the route without a database', hookKey, routeServer);
      for (const kind of ['candle', 'signal'] as const) {
        await sendLoad({ url: server.url, hookKey, kind, seconds: sizes.warmUpSeconds });
        const { load, rate, used } = await measureLoad(loadedBy(program), kind, sizes.seconds);
        add(`${kind}s`, '/s', rate);
        add(`${kind}s, answer p50`, 'ms', load.p50);
        add(`${kind}s, answer p99`, 'ms', load.p99, { most: 50 });
        add(`${kind}s, slowest answer`, 'ms', load.max);
        add(`${kind}s, processor time of the program for each`, 'ms', used.program);
        add(`${kind}s, processor time of the database for each`, 'ms', used.database);
        const toCommits = commits === null ? null : rate / commits;
        add(`${kind}s to commits of pgbench`, '×', toCommits, { least: 1.3 });
        add(`${kind}s to the bare server`, '×', rate / bare, { least: 0.5 });
        add(`${kind}s to the route without a database`, '×', rate / route, { least: 0.75 });
      }
      const waiting = `select count(*) as count from workflows where status in ('pending', 'processing')`;
      left = await count(program, waiting);
    }

    await inRounds(context, { ...sizes, env: UNLIMITED }, measureRound);
    return {
      about: `Unique deliveries over ${CONNECTIONS} keep-alive connections for ${sizes.seconds} s, each durably committed before its answer`,
      notes: [
        await describeGenerator(),
        pgbench === null
          ? 'There is no pgbench on PATH: that baseline is left out.'
          : `${pgbench}, its simple protocol: one insert into a table as wide as price logs is a transaction, on the same server just before.`,
        'The route without a database is the same program in its own process; only the transaction that stores a batch is replaced. The bare server reads the body and answers 200.',
        'A round fails if one delivery is refused, or if fewer are stored than were answered.',
        `Automatic trading is off; at the end of the last round ${left.toLocaleString('en')} workflows still waited to be recorded as aborted.`,
      ],
    };
  },
};

const createDatabase = ({ postmaster }: Program, name: string) =>
  withDatabase({ postmaster, database: 'postgres' }, (client) => client.query(`create database ${name}`));

/** As wide as a price log, with a primary key and no other index. */
const TABLE = `create table one_row (
  id uuid primary key, hook_id uuid not null, from_admin boolean not null, token text not null, timeframe text not null,
  price numeric not null, currency text not null, candle_time timestamptz not null, received_at timestamptz not null,
  source_ip text not null, hash_value text not null, parameters jsonb not null
)`;
const INSERT = `\\set price random(100000, 101000)
insert into one_row values (gen_random_uuid(), '01980000-0000-7000-8000-000000000000', true, 'BTC', '15',
  :price / 1000.0, 'USDT', now(), now(), '127.0.0.1',
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '{"Timeframe":"15","Symbol":"BTCUSDT","Currency":"USDT","DateTime":"202601010000","Open":"100","High":"101.5","Low":"99.2","Close":"100.5","Volume":"100000001","RSI":"55.31","MACD":"1.204","ATR":"0.83","mature_trend":"bullish","close":"100.5","atr":"0.83","datetime":"202601010000"}');
`;

/** Durable commits per second by pgbench: ten clients, each inserting one row per transaction. */
async function measureCommits(
  program: Program,
  { warmUpSeconds, baselineSeconds }: { warmUpSeconds: number; baselineSeconds: number },
): Promise<number> {
  const { postmaster } = program;
  await createDatabase(program, 'pgbench');
  await withDatabase({ postmaster, database: 'pgbench' }, (client) => client.query(TABLE));
  return await withFolder(async (folder) => {
    const script = join(folder, 'one-row.sql');
    await writeFile(script, INSERT);
    async function run(seconds: number): Promise<number> {
      const where = ['-h', postmaster.host, '-p', String(postmaster.port), '-U', 'postgres'];
      const load = ['-n', '-f', script, '-c', '10', '-j', '2', '-T', String(seconds), 'pgbench'];
      const output = await runChild('pgbench', [...where, ...load], { limitMs: (seconds + 60) * 1000 });
      const [, tps] = /^tps = ([\d.]+)/m.exec(output) ?? [];
      if (tps === undefined) throw new Error(`pgbench printed no tps:\n${output}`);
      return Number(tps);
    }
    await run(warmUpSeconds);
    return await run(baselineSeconds);
  });
}

const GROWTH = 10;
/** Up and down again, so a drift of the machine over the minutes affects every count equally. */
const INSTANCES = [1, 2, 3, 3, 2, 1];
/** Per instance, because instances that share the processors take longer to warm up. */
const WARM_UP_SECONDS = 4;
/** The factor by which the cost of an alert may rise. */
const MOST_COST: Target = { most: 1.1 };

/** The cost of an alert with ten times the stored data, and with several instances. */
export const growth: Bench = {
  about: 'ingest with ten times the data, and with three instances',
  takes: '6 minutes',
  async run(context) {
    const { say, short } = context;
    const sizes = short
      ? { rounds: 1, seconds: 2, signals: 500, priceLogs: 2_500 }
      : { rounds: 3, seconds: 10, signals: 50_000, priceLogs: 250_000 };
    const measure = (targets: readonly Loaded[], name: string) => {
      say(`ingest with ${name}`);
      return measureCosts(context, { targets, name, ...sizes });
    };

    const byRows = createCosts();
    for (const times of [1, GROWTH]) {
      await withProgram(UNLIMITED, async (program) => {
        const [signals, priceLogs] = [sizes.signals * times, sizes.priceLogs * times];
        await withDatabase(program, (client) =>
          fillLists(client, { signals, priceLogs, now: Date.now(), say }),
        );
        byRows.add(times, await measure([loadedBy(program)], `${times} × the data`));
      });
    }
    byRows.addRatios(context, (times) => `cost with ${times} × the data`, MOST_COST);

    const byInstances = createCosts();
    const nameInstances = (instances: number) => `${instances} ${instances === 1 ? 'instance' : 'instances'}`;
    await withCluster({ instances: 1, env: () => UNLIMITED }, async (cluster) => {
      for (const instances of INSTANCES) {
        await cluster.resize(instances);
        const target = { ...cluster, servers: cluster.programs };
        byInstances.add(instances, await measure([target], nameInstances(instances)));
      }
    });
    byInstances.addRatios(context, (instances) => `cost with ${nameInstances(instances)}`, MOST_COST);

    // The control: programs with a database each share only the processors, a cost that instances pay too.
    const byPrograms = createCosts();
    const namePrograms = (programs: number) =>
      programs === 1 ? '1 program and database' : `${programs} programs, a database each`;
    await withClusters(Math.max(...INSTANCES), async (clusters) => {
      const targets = clusters.map((cluster) => ({ ...cluster, servers: cluster.programs }));
      for (const programs of INSTANCES) {
        byPrograms.add(programs, await measure(targets.slice(0, programs), namePrograms(programs)));
      }
    });
    byPrograms.addRatios(context, (programs) => `cost with ${namePrograms(programs)}`);

    return {
      about: `Candles with ten times the data stored, and with one, two and three instances on one PostgreSQL, ${CONNECTIONS} connections to each; beside it as many programs that share nothing`,
      notes: [
        await describeGenerator(),
        `Stored before: ${sizes.signals.toLocaleString('en')} signals and ${sizes.priceLogs.toLocaleString('en')} price logs, and ten times of both.`,
        'The cost of an alert is the processor time of all programs and of the database for each. The instances share the processors with each other and the load generator, so their throughput does not add up on a small machine; the cost is what counts. Programs with a database each share nothing but the processors: what that costs, an instance more costs as well.',
      ],
    };
  },
};

function withClusters<Result>(
  wanted: number,
  work: (clusters: Cluster[]) => Promise<Result>,
  clusters: Cluster[] = [],
): Promise<Result> {
  if (clusters.length === wanted) return work(clusters);
  return withCluster({ instances: 1, env: () => UNLIMITED }, (cluster) =>
    withClusters(wanted, work, [...clusters, cluster]),
  );
}

/** Costs of an alert, grouped by the number of instances, programs or amount of data. */
function createCosts() {
  const costs = new Map<number, number[]>();
  return {
    add(times: number, added: readonly number[]) {
      costs.set(times, [...(costs.get(times) ?? []), ...added]);
    },
    /** Adds the ratio of each count to a count of one; skipped where processor time cannot be read. */
    addRatios({ add }: BenchContext, nameOf: (times: number) => string, target?: Target) {
      const one = costs.get(1) ?? [];
      for (const [times, values] of costs) {
        if (times === 1 || one.length === 0 || values.length === 0) continue;
        add(nameOf(times), '×', median(values) / median(one), target);
      }
    },
  };
}

/** Processor milliseconds for an alert in each round. All targets are loaded concurrently. */
async function measureCosts(
  { add }: BenchContext,
  options: { targets: readonly Loaded[]; name: string; rounds: number; seconds: number },
): Promise<number[]> {
  const { targets, name, rounds, seconds } = options;
  const servers = targets.flatMap(({ servers: own, hookKey }) => own.map(({ url }) => ({ url, hookKey })));
  const warmUp = { kind: 'candle', seconds: WARM_UP_SECONDS * servers.length } as const;
  await Promise.all(servers.map((server) => sendLoad({ ...server, ...warmUp })));
  const costs: number[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const parts = await Promise.all(targets.map((target) => measureLoad(target, 'candle', seconds)));
    const rate = sum(parts.map((part) => part.rate));
    add(`${name}: candles`, '/s', rate);
    add(`${name}: answer p99`, 'ms', Math.max(...parts.map(({ load }) => load.p99)));
    const used = parts.flatMap((part) =>
      part.used.program === null || part.used.database === null
        ? []
        : [part.rate * (part.used.program + part.used.database)],
    );
    if (used.length < parts.length) continue;
    costs.push(sum(used) / rate);
    add(`${name}: cost of a candle`, 'ms', sum(used) / rate);
  }
  return costs;
}
