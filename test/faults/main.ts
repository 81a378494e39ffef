import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import {
  LONG_FORM_MINUTES,
  longFormOf,
  runScenario,
  SCENARIO_NAMES,
  scenarioOf,
  withSizes,
} from './scenarios.ts';
import { closeStages } from './stage.ts';

const HELP = `npm run faults -- [--minutes 60] [--seed 1] [--scenario NAME [--set key=value …]]

Runs the program as its users do, against an exchange, a network and a PostgreSQL of its own, kills and freezes them,
and compares what the exchange's ledger and the public API say afterwards.

  --minutes   all scenarios in proportion to what the long form takes (${LONG_FORM_MINUTES} minutes)
  --seed      which faults strike where; the same seed gives the same plan
  --scenario  only this one: ${SCENARIO_NAMES.join(', ')}
  --set       a size of it, such as --set kills=10; the others are those of the long form

`;

const say = (line: string) => process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

let isInterrupted = false;
for (const [signal, number] of [
  ['SIGINT', 2],
  ['SIGTERM', 15],
] as const) {
  process.on(signal, () => {
    say(`stopped by ${signal}`);
    isInterrupted = true;
    void closeStages().finally(() => process.exit(128 + number));
  });
}

try {
  process.exitCode = await main();
} catch (error) {
  // After an interruption, errors of the closing stage must not stop the clean-up.
  if (!isInterrupted) throw error;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string', default: '1' },
      scenario: { type: 'string' },
      set: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const minutes = Number(values.minutes ?? LONG_FORM_MINUTES);
  if (!(minutes > 0)) return refuse('--minutes takes a number above zero');
  const wanted = SCENARIO_NAMES.find((name) => name === values.scenario);
  if (values.scenario !== undefined && wanted === undefined) {
    return refuse(`There is no scenario ${values.scenario}; there are ${SCENARIO_NAMES.join(', ')}`);
  }
  if (wanted === undefined && values.set.length > 0) return refuse('--set needs --scenario');
  const runs =
    wanted !== undefined && values.set.length > 0
      ? [{ name: wanted, sizes: withSizes(scenarioOf(wanted).sizes, values.set) }]
      : longFormOf(minutes).filter(({ name }) => wanted === undefined || name === wanted);
  say(`${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`);
  let violations = 0;
  for (const run of runs)
    violations += (await runScenario({ seed: values.seed, say }, run)).violations.length;
  say(`${violations} violations in ${runs.length} runs`);
  return violations === 0 ? 0 : 1;
}

function refuse(message: string): number {
  process.stderr.write(`${message}\n`);
  return 1;
}
