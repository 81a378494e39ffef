import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { benchAtRest } from './at-rest.ts';
import { type BenchResult, toTable } from './figures.ts';
import { benchFirstOrder } from './first-order.ts';
import { benchIngest } from './ingest.ts';
import { stopPrograms } from './program.ts';
import { benchStarts, stopStarted } from './starts.ts';

const BENCHES: Record<string, (say: (line: string) => void) => Promise<BenchResult>> = {
  ingest: benchIngest,
  'first-order': benchFirstOrder,
  'at-rest': benchAtRest,
  starts: benchStarts,
};

const HELP = `npm run bench [-- NAME …] [-- --json FILE]

Measures the real program on an embedded database of its own, on this machine alone. NAME is one or more of:

  ingest        deliveries per second at 50 connections, beside pgbench      about 2 minutes
  first-order   from a signal's answer to the orders of 1, 10 and 50 users   about 2 minutes
  at-rest       memory and processor time without a request                  about 1 minute
  starts        the first start and the second                               about half a minute

Without a name: all of them. With --json the figures, every round of them, are also written to FILE.
`;

for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(signal, () => {
    void Promise.all([stopPrograms(), stopStarted()]).finally(() => process.exit(128 + number));
  });
}

await main();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'string' }, help: { type: 'boolean', short: 'h', default: false } },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const names = positionals.length > 0 ? positionals : Object.keys(BENCHES);
  const unknown = names.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) {
    process.stderr.write(
      `There is no benchmark "${unknown}"; there are ${Object.keys(BENCHES).join(', ')}\n`,
    );
    process.exitCode = 1;
    return;
  }
  const run = { date: new Date().toISOString(), machine: machine(), results: [] as BenchResult[] };
  for (const name of names) {
    const result = await BENCHES[name]?.((line) => process.stderr.write(`${line} …\n`));
    if (result === undefined) continue;
    run.results.push(result);
    process.stdout.write(`\n${report(result)}\n`);
  }
  process.stdout.write(`\n${run.date}, ${describeMachine(run.machine)}\n`);
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(run, null, 2)}\n`);
}

function report(result: BenchResult): string {
  const { bench, about, notes } = result;
  return [`${bench}: ${about}`, '', toTable(result), '', ...notes.map((note) => `- ${note}`)].join('\n');
}

function machine() {
  return {
    processors: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    /** Before the first benchmark: what else was running. */
    loadBefore: Number(loadavg()[0]?.toFixed(2)),
  };
}

function describeMachine({
  processors,
  model,
  memoryGb,
  platform,
  node,
  loadBefore,
}: ReturnType<typeof machine>) {
  return `${processors} processors (${model}), ${memoryGb} GB, ${platform}, Node ${node}, load ${loadBefore} before`;
}
