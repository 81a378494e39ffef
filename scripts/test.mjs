// npm test: the checks before every commit, in order; `npm test -- --only=unit|server|e2e [file …]` runs a part.
// npm run test:long: the long tests (*.long.test.ts, *.long.spec.ts, tag @long); --only=vitest|e2e runs a part.
// What fails is tried once more after everything else has ended, with one worker; what passes then is named.
import { ensureInstalled } from './lib/install.mjs';
import { findNode } from './lib/node-runtime.mjs';
import { runMain, SetupError, say } from './lib/project.mjs';
import { filesToRetry, summarize } from './lib/test-results.mjs';
import { build, checkAndBuild, endToEnd, longEndToEnd, vitest } from './lib/test-steps.mjs';

/** @typedef {import('./lib/test-results.mjs').TestResult} TestResult */

const STEPS = [
  { part: 'check', heading: 'Types, style and build', run: checkAndBuild },
  { part: 'unit', heading: 'Domain, contract and web tests', run: vitest('unit') },
  { part: 'build', heading: 'Build', run: build },
  { part: 'server', heading: 'Server tests', run: vitest('server') },
  { part: 'e2e', heading: 'Browser tests', run: endToEnd },
];
const LONG_STEPS = [
  { part: 'build', heading: 'Build', run: build },
  { part: 'vitest', heading: 'Long server and web tests', run: vitest('long') },
  { part: 'e2e', heading: 'Long browser tests', run: longEndToEnd },
];

await runMain(async () => {
  /** @type {{ step: (typeof STEPS)[number], tests: TestResult[] }[]} */
  const done = [];
  /** @type {TestResult[]} */
  const secondTry = [];
  let interrupted = 0;
  for (const [signal, number] of /** @type {const} */ ([
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ])) {
    process.on(signal, () => (interrupted = 128 + number));
  }
  let ownFailures = 0;
  try {
    const { steps, filters } = readArguments(process.argv.slice(2));
    await ensureInstalled();
    const node = findNode();
    for (const [index, step] of steps.entries()) {
      if (interrupted) break;
      const heading = `${index + 1}/${steps.length}  ${step.heading}`;
      done.push({ step, tests: await runStep(heading, step, { node, filters }) });
    }
    for (const { step, tests } of done) {
      const files = filesToRetry(tests);
      if (interrupted || files.length === 0) continue;
      const heading = `Second try  ${step.heading}`;
      secondTry.push(...(await runStep(heading, step, { node, filters: files, alone: true })));
    }
  } catch (error) {
    ownFailures += 1;
    say(explain(error));
  }
  if (interrupted) {
    ownFailures += 1;
    say('\nInterrupted: not everything was run.');
  }
  const { passed, failed, unsteady, failures } = summarize(
    done.flatMap(({ tests }) => tests),
    secondTry,
  );
  if (unsteady.length > 0) say(`\nNeeded a second try:\n\n${unsteady.join('\n\n')}`);
  if (failures.length > 0) say(`\nWhat failed:\n\n${failures.join('\n\n')}`);
  say(`\n${passed} passed, ${failed + ownFailures} failed`);
  return interrupted || (failed + ownFailures > 0 || passed === 0 ? 1 : 0);
});

/**
 * @param {string} heading
 * @param {(typeof STEPS)[number]} step
 * @param {import('./lib/test-steps.mjs').StepOptions} options
 * @returns {Promise<TestResult[]>}
 */
async function runStep(heading, step, options) {
  say(`\n── ${heading} ${'─'.repeat(Math.max(0, 65 - heading.length))}`);
  const startedAt = Date.now();
  const tests = await step
    .run(options)
    .catch((error) => [{ file: undefined, title: explain(error), passed: false, message: '' }]);
  const passed = tests.filter((test) => test.passed).length;
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  say(`${step.heading}: ${passed} passed, ${tests.length - passed} failed in ${seconds} s`);
  return tests;
}

/** @param {unknown} error */
function explain(error) {
  if (error instanceof SetupError) return error.message;
  return error instanceof Error ? String(error.stack) : String(error);
}

/** @param {string[]} args */
function readArguments(args) {
  const isLong = args[0] === '--long';
  const rest = isLong ? args.slice(1) : args;
  const all = isLong ? LONG_STEPS : STEPS;
  const parts = all.map(({ part }) => part).filter((part) => part !== 'check' && part !== 'build');
  const only = rest.filter((arg) => arg.startsWith('--only=')).map((arg) => arg.slice('--only='.length));
  const filters = rest.filter((arg) => !arg.startsWith('--only='));
  const unknown = only.find((part) => !parts.includes(part)) ?? filters.find((arg) => arg.startsWith('-'));
  if (unknown)
    throw new SetupError(`Unknown argument ${unknown}; it takes --only=${parts.join('|')} and files`);
  if (filters.length > 0 && only.length === 0)
    throw new SetupError(`Files need --only=${parts.slice(0, -1).join(', ')} or ${parts.at(-1)}`);
  const steps =
    only.length === 0
      ? all
      : all.filter(
          ({ part }) => only.includes(part) || (part === 'build' && only.some((name) => name !== 'unit')),
        );
  return { steps, filters };
}
