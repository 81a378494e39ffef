// npm test: the checks before every commit, in order; `npm test -- --only=unit|server|e2e [file …]` runs a part.
// npm run test:long: the long tests (*.long.test.ts, *.long.spec.ts); --only=vitest|e2e runs a part.
import { ensureInstalled } from './lib/install.mjs';
import { findNode } from './lib/node-runtime.mjs';
import { runMain, SetupError, say } from './lib/project.mjs';
import { build, checkTypes, endToEnd, lint, longEndToEnd, vitest } from './lib/test-steps.mjs';

const STEPS = [
  { part: 'check', heading: 'Type check', run: checkTypes },
  { part: 'check', heading: 'Lint and format', run: lint },
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
  const total = { passed: 0, failed: 0 };
  /** @type {string[]} */
  const failures = [];
  /** @type {string[]} */
  const unsteady = [];
  let interrupted = 0;
  for (const [signal, number] of /** @type {const} */ ([
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ])) {
    process.on(signal, () => (interrupted = 128 + number));
  }
  try {
    const { steps, filters } = readArguments(process.argv.slice(2));
    await ensureInstalled();
    const node = findNode();
    for (const [index, step] of steps.entries()) {
      if (interrupted) break;
      say(`\n── ${index + 1}/${steps.length}  ${step.heading} ${'─'.repeat(60 - step.heading.length)}`);
      const startedAt = Date.now();
      const count = await runStep(() => step.run({ node, filters }));
      const { passed, failed } = count;
      total.passed += passed;
      total.failed += failed;
      failures.push(...(count.failures ?? []));
      unsteady.push(...(count.unsteady ?? []));
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      say(`${step.heading}: ${passed} passed, ${failed} failed in ${seconds} s`);
    }
  } catch (error) {
    total.failed += 1;
    say(explain(error));
  }
  if (interrupted) {
    total.failed += 1;
    say('\nInterrupted: not everything was run.');
  }
  if (unsteady.length > 0) say(`\nPassed only on a retry:\n\n${unsteady.join('\n\n')}`);
  if (failures.length > 0) say(`\nWhat failed:\n\n${failures.join('\n\n')}`);
  say(`\n${total.passed} passed, ${total.failed} failed`);
  return interrupted || (total.failed > 0 || total.passed === 0 ? 1 : 0);
});

/** @param {() => Promise<import('./lib/test-steps.mjs').Count>} work */
async function runStep(work) {
  try {
    return await work();
  } catch (error) {
    return { passed: 0, failed: 1, failures: [`✗ ${explain(error)}`] };
  }
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
