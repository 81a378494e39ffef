import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBuilt } from './builds.mjs';
import { run } from './child.mjs';
import { ensureChromium } from './chromium.mjs';
import { temporaryFolder } from './memory-folder.mjs';
import { nodeEnvironment } from './node-runtime.mjs';
import { root, say } from './project.mjs';
import { inProject } from './test-results.mjs';

/**
 * `filters`: the files to run, all if empty. `alone`: one file after the other.
 * @typedef {import('./test-results.mjs').TestResult} TestResult
 * @typedef {{ node: string, filters: string[], alone?: boolean }} StepOptions
 * @typedef {(options: StepOptions) => Promise<TestResult[]>} Step
 */

const bin = (/** @type {string[]} */ ...path) => join(root, 'node_modules', ...path);

/** @type {Step} */
const checkTypes = ({ node }) =>
  check('the type check', node, [bin('typescript', 'bin', 'tsc'), '--noEmit', '-p', root]);

/** @type {Step} */
const lint = ({ node }) =>
  check('lint and format', node, [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '.']);

/** @type {Step} */
export const build = async ({ node }) => {
  await ensureBuilt(node);
  return [{ file: undefined, title: 'the build', passed: true }];
};

/**
 * Together, because the type check uses one processor only.
 * @type {Step}
 */
export const checkAndBuild = async (options) =>
  (await Promise.all([checkTypes(options), lint(options), build(options)])).flat();

/**
 * One check counts as one test.
 * @param {string} name
 * @param {string} node
 * @param {string[]} args
 * @returns {Promise<TestResult[]>}
 */
async function check(name, node, args) {
  const code = await run(node, args, { env: nodeEnvironment(node) });
  return [{ file: undefined, title: `${name} (its findings are above)`, passed: code === 0, message: '' }];
}

/**
 * @param {'unit' | 'server' | 'long'} project
 * @returns {Step}
 */
export function vitest(project) {
  return ({ node, filters, alone }) =>
    withReport(async (report) => {
      const unhandled = `${report}.unhandled`;
      const reporters = [
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        `--reporter=${join(root, 'scripts', 'lib', 'unhandled-errors-reporter.mjs')}`,
      ];
      const workers = alone ? ['--maxWorkers=1'] : [];
      const args = [bin('vitest', 'vitest.mjs'), 'run', `--project=${project}`, ...reporters, ...workers];
      const env = nodeEnvironment(node, {
        NODE_ENV: 'test',
        UNHANDLED_ERRORS_FILE: unhandled,
        ...(await temporaryFolder()),
      });
      const code = await run(node, [...args, ...filters], { env });
      const errors = await readFile(unhandled, 'utf8').then(JSON.parse, () => []);
      return { code, read: (tests) => [...readVitest(tests), ...errors.map(unhandledError)] };
    });
}

/**
 * @param {Record<string, string>} settings
 * @returns {Step}
 */
const playwright =
  (settings) =>
  async ({ node, filters, alone }) => {
    const chromium = await ensureChromium();
    return withReport(async (report) => {
      const workers = alone ? ['--workers=1'] : [];
      const args = [bin('@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json', ...workers];
      const env = {
        ...settings,
        CHROMIUM_PATH: chromium,
        PLAYWRIGHT_JSON_OUTPUT_FILE: report,
        ...(await temporaryFolder()),
      };
      const code = await run(node, [...args, ...filters], { env: nodeEnvironment(node, env) });
      return { code, read: readPlaywright };
    });
  };

export const endToEnd = playwright({});
export const longEndToEnd = playwright({ LONG_TESTS: '1' });

/**
 * Counts a runner that fails without naming a test (it crashed or found none) as one failure.
 * @template Report
 * @param {(path: string) => Promise<{ code: number, read: (report: Report) => TestResult[] }>} work
 * @returns {Promise<TestResult[]>}
 */
async function withReport(work) {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-report-'));
  const path = join(folder, 'report.json');
  const runnerFailed = (/** @type {string} */ how) => ({
    file: undefined,
    title: how,
    passed: false,
    message: '',
  });
  try {
    const { code, read } = await work(path);
    const tests = await readFile(path, 'utf8').then(
      (text) => read(JSON.parse(text)),
      () => [runnerFailed(`the test runner ended with ${code} and without a report`)],
    );
    if (code === 0 || tests.some(({ passed }) => !passed)) return tests;
    return [...tests, runnerFailed(`the test runner ended with ${code} and named nothing`)];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A skipped test counts as failed, and so does a file that cannot be loaded.
 * @param {{ testResults: { name: string, status: string, message?: string, assertionResults: { status: string, fullName: string, failureMessages?: string[] }[] }[] }} report
 * @returns {TestResult[]}
 */
function readVitest({ testResults }) {
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = inProject(name);
    const tests = assertionResults.map(({ status, fullName: title, failureMessages = [] }) => {
      if (status !== 'passed' && status !== 'failed') say(`Not run, so counted as failed: ${title}`);
      return { file, title, passed: status === 'passed', message: failureMessages[0] };
    });
    const isBroken = status === 'failed' && !assertionResults.some((test) => test.status === 'failed');
    return isBroken ? [...tests, { file, title: 'the file', passed: false, message }] : tests;
  });
}

/**
 * @param {{ file?: string, text: string }} error
 * @returns {TestResult}
 */
const unhandledError = ({ file, text }) => ({
  file: file === undefined ? undefined : inProject(file),
  title: 'outside of a test',
  passed: false,
  message: text,
});

/**
 * @typedef {{ title: string, file: string, ok: boolean, tests: { status: string, results: { error?: { message?: string } }[] }[] }} Spec
 * @typedef {{ title: string, specs?: Spec[], suites?: Suite[] }} Suite
 * @param {{ suites: Suite[], errors: { message?: string }[] }} report
 * @returns {TestResult[]}
 */
function readPlaywright({ suites, errors }) {
  const specs = suites.flatMap((file) => specsIn(file, ''));
  return [
    ...specs.map(({ spec, group }) => readSpec(spec, group)),
    ...errors.map(({ message }) => ({ file: undefined, title: 'the browser tests', passed: false, message })),
  ];
}

/**
 * @param {Spec} spec
 * @param {string} group
 * @returns {TestResult}
 */
function readSpec(spec, group) {
  const title = `${group}${spec.title}`;
  const isSkipped = spec.tests.some(({ status }) => status === 'skipped');
  if (isSkipped) say(`Not run, so counted as failed: ${title}`);
  const message = spec.tests.flatMap(({ results }) => results).find(({ error }) => error)?.error?.message;
  return { file: inProject(join(root, 'e2e', spec.file)), title, passed: spec.ok && !isSkipped, message };
}

/**
 * @param {Suite} suite
 * @param {string} group
 * @returns {{ spec: Spec, group: string }[]}
 */
function specsIn({ specs = [], suites = [] }, group) {
  const own = specs.map((spec) => ({ spec, group }));
  return [...own, ...suites.flatMap((inner) => specsIn(inner, `${group}${inner.title} › `))];
}
