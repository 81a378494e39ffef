import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BENCHES } from './benches.ts';
import { cleanUp, requireRunning } from './cleanup.ts';
import { toTable } from './figures.ts';
import { describeMachine, machine } from './machine.ts';
import { type MeasuredBench, mergeResults, readResults, writeFigures } from './report.ts';

const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));
const RESULTS = fileURLToPath(new URL('../docs/performance.json', import.meta.url));
const SOAK_MINUTES = 30;

const MARKS = { none: '', all: ' *', named: ' **' };
const list = Object.entries(BENCHES)
  .map(([name, { about, takes, only }]) => `  ${name.padEnd(12)}${about}; ${takes}${MARKS[only ?? 'none']}`)
  .join('\n');

const HELP = `npm run bench [-- NAME …] [-- --all] [--write] [--json FILE] [--short] [--minutes N]

Measures the real program on databases of its own, on this machine alone. NAME is one or more of:

${list}

Without a name: all that have no star, some 35 minutes; with --all those with one star as well, some 65 minutes.
What has two stars runs by its name alone.

  --write       puts the figures into docs/performance.md (and docs/performance.json, which that is made from);
                benchmarks that were not run keep theirs
  --json FILE   writes the figures of this run, every round of them, to FILE
  --short       small sizes, to try a benchmark; such figures are not written to docs
  --minutes N   how long the soak takes, ${SOAK_MINUTES} unless given
`;

for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(signal, () => void cleanUp().finally(() => process.exit(128 + number)));
}

process.on('uncaughtException', (error) => void fail(error).finally(() => process.exit(1)));
await main().catch(fail);

async function fail(error: unknown): Promise<void> {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
  await cleanUp();
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      all: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      short: { type: 'boolean', default: false },
      json: { type: 'string' },
      minutes: { type: 'string', default: String(SOAK_MINUTES) },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return;
  }
  const minutes = Number(values.minutes);
  if (!(minutes > 0)) throw new Error(`--minutes takes a number above 0, not ${values.minutes}`);
  if (values.short && values.write) throw new Error('Figures of --short are not written to docs');
  const run: MeasuredBench[] = [];
  let failed = 0;
  for (const name of namesOf(positionals, values.all)) {
    requireRunning();
    const measured = await runBench(name, { short: values.short, minutes }).catch((error: unknown) => {
      // The others are worth having, all the more after an hour.
      failed += 1;
      process.stderr.write(`\n${name} failed: ${error instanceof Error ? error.message : String(error)}\n`);
      return null;
    });
    if (measured === null) continue;
    run.push(measured);
    process.stdout.write(`\n${report(measured)}\n`);
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(run, null, 2)}\n`);
    if (values.write) await write(run);
  }
  process.stdout.write(`\n${describeMachine(machine())}\n`);
  if (failed > 0) process.exitCode = 1;
}

function namesOf(given: readonly string[], all: boolean): string[] {
  const unknown = given.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) {
    throw new Error(`There is no benchmark "${unknown}"; there are ${Object.keys(BENCHES).join(', ')}`);
  }
  if (given.length > 0) return [...given];
  return Object.entries(BENCHES).flatMap(([name, { only }]) =>
    only === undefined || (all && only === 'all') ? [name] : [],
  );
}

async function runBench(
  name: string,
  options: { short: boolean; minutes: number },
): Promise<MeasuredBench | null> {
  const bench = BENCHES[name];
  if (bench === undefined) return null;
  const startedAt = new Date();
  const before = machine();
  const say = (line: string) => process.stderr.write(`${line} …\n`);
  const result = await bench.run({ say, ...options });
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  const command = `npm run bench -- ${name}${options.short ? ' --short' : ''}`;
  return { ...result, date: startedAt.toISOString(), seconds, command, machine: before };
}

function report({ bench, about, notes, figures, seconds }: MeasuredBench): string {
  const heading = `${bench}: ${about} (${seconds} s)`;
  return [heading, '', toTable({ figures }), '', ...notes.map((note) => `- ${note}`)].join('\n');
}

/** After each benchmark: an hour of measuring must not hang on the last one. */
async function write(run: readonly MeasuredBench[]): Promise<void> {
  const stored = readResults(await readFile(RESULTS, 'utf8').catch(() => '[]'));
  const results = mergeResults(stored, run, Object.keys(BENCHES));
  await writeFile(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(PAGE, writeFigures(await readFile(PAGE, 'utf8'), results));
}
