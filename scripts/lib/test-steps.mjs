import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { ensureBuilt } from './builds.mjs';
import { run } from './child.mjs';
import { ensureChromium } from './chromium.mjs';
import { temporaryFolder } from './memory-folder.mjs';
import { nodeEnvironment } from './node-runtime.mjs';
import { root, say } from './project.mjs';

/**
 * `failures`: one text for each failed test, repeated at the end of the output.
 * `unsteady`: one text for each test that failed first and passed on a retry.
 * @typedef {{ passed: number, failed: number, failures?: string[], unsteady?: string[] }} Count
 * @typedef {{ node: string, filters: string[] }} StepOptions
 * @typedef {(options: StepOptions) => Promise<Count>} Step
 */

const MESSAGE_LINES = 40;
/** Frames that say nothing about the failure. */
const FOREIGN_FRAME = /^\s+at .*(node_modules|node:|<anonymous>)/;

const bin = (/** @type {string[]} */ ...path) => join(root, 'node_modules', ...path);

/** @type {Step} */
export const checkTypes = ({ node }) =>
  check('the type check', node, [bin('typescript', 'bin', 'tsc'), '--noEmit', '-p', root]);

/** @type {Step} */
export const lint = ({ node }) =>
  check('lint and format', node, [bin('@biomejs', 'biome', 'bin', 'biome'), 'check', '.']);

/** @type {Step} */
export const build = async ({ node }) => {
  await ensureBuilt(node);
  return { passed: 1, failed: 0 };
};

/**
 * One check counts as one test.
 * @param {string} name
 * @param {string} node
 * @param {string[]} args
 * @returns {Promise<Count>}
 */
async function check(name, node, args) {
  const code = await run(node, args, { env: nodeEnvironment(node) });
  if (code === 0) return { passed: 1, failed: 0 };
  return { passed: 0, failed: 1, failures: [`✗ ${name} (its findings are above)`] };
}

/**
 * @param {'unit' | 'server' | 'long'} project
 * @returns {Step}
 */
export function vitest(project) {
  return ({ node, filters }) =>
    withReport(async (report) => {
      const unhandled = `${report}.unhandled`;
      const reporters = [
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        `--reporter=${join(root, 'scripts', 'lib', 'unhandled-errors-reporter.mjs')}`,
      ];
      const args = [bin('vitest', 'vitest.mjs'), 'run', `--project=${project}`, ...reporters, ...filters];
      const env = nodeEnvironment(node, {
        NODE_ENV: 'test',
        UNHANDLED_ERRORS_FILE: unhandled,
        ...(await temporaryFolder()),
      });
      const code = await run(node, args, { env });
      const errors = await readFile(unhandled, 'utf8').then(JSON.parse, () => []);
      return { code, count: (tests) => withUnhandled(countVitest(tests), errors) };
    });
}

/**
 * @param {Record<string, string>} settings
 * @returns {Step}
 */
const playwright =
  (settings) =>
  async ({ node, filters }) => {
    const chromium = await ensureChromium();
    return withReport(async (report) => {
      const args = [bin('@playwright', 'test', 'cli.js'), 'test', '--reporter=list,json', ...filters];
      const env = { ...settings, CHROMIUM_PATH: chromium, PLAYWRIGHT_JSON_OUTPUT_FILE: report };
      const code = await run(node, args, { env: nodeEnvironment(node, env) });
      return { code, count: countPlaywright };
    });
  };

export const endToEnd = playwright({});
export const longEndToEnd = playwright({ LONG_TESTS: '1' });

/**
 * Counts a runner that fails without naming a test (it crashed or found none) as one failure.
 * @template Report
 * @param {(path: string) => Promise<{ code: number, count: (report: Report) => Count }>} work
 * @returns {Promise<Count>}
 */
async function withReport(work) {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-report-'));
  const path = join(folder, 'report.json');
  try {
    const { code, count } = await work(path);
    const counted = await readFile(path, 'utf8').then(
      (text) => count(JSON.parse(text)),
      () => {
        const failures = [`✗ the test runner ended with ${code} and without a report`];
        return { passed: 0, failed: 1, failures };
      },
    );
    if (code === 0 || counted.failed > 0) return counted;
    return { ...counted, failed: 1, failures: [`✗ the test runner ended with ${code} and named nothing`] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A skipped test counts as failed.
 * @param {{ testResults: { name: string, status: string, message?: string, assertionResults: { status: string, fullName: string, failureMessages?: string[] }[] }[] }} report
 * @returns {Count}
 */
function countVitest({ testResults }) {
  const tests = testResults.flatMap((file) => file.assertionResults);
  const skipped = tests.filter(({ status }) => status !== 'passed' && status !== 'failed');
  for (const { fullName } of skipped) say(`Not run, so counted as failed: ${fullName}`);
  const passed = tests.filter(({ status }) => status === 'passed').length;
  const brokenFiles = testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  );
  const describeAll = (/** @type {'failed' | 'passed'} */ wanted) =>
    testResults.flatMap(({ name, assertionResults }) =>
      assertionResults
        .filter(({ status }) => status === wanted)
        // A test that passed on a retry keeps the message of its first failure.
        .filter(({ failureMessages = [] }) => wanted === 'failed' || failureMessages.length > 0)
        .map(({ fullName, failureMessages = [] }) => describeFailure(name, fullName, failureMessages[0])),
    );
  const failures = describeAll('failed');
  for (const { name, message } of brokenFiles) failures.push(describeFailure(name, 'the file', message));
  return {
    passed,
    failed: tests.length - passed + brokenFiles.length,
    failures,
    unsteady: describeAll('passed'),
  };
}

/**
 * Counts errors outside of tests as failed tests.
 * @param {Count} count
 * @param {string[]} errors
 * @returns {Count}
 */
function withUnhandled(count, errors) {
  const texts = errors.map((error) => nameFailure('outside of a test', error));
  return {
    ...count,
    failed: count.failed + errors.length,
    failures: [...(count.failures ?? []), ...texts],
  };
}

/**
 * @param {string} file
 * @param {string} title
 * @param {string | undefined} message
 */
function describeFailure(file, title, message) {
  return nameFailure(`${relative(root, file)} › ${title}`, message);
}

/**
 * @param {string} heading
 * @param {string | undefined} message
 */
function nameFailure(heading, message = 'no message') {
  const lines = stripVTControlCharacters(message)
    .trim()
    .split('\n')
    .filter((line) => !FOREIGN_FRAME.test(line))
    .slice(0, MESSAGE_LINES);
  return [`✗ ${heading}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

/**
 * @typedef {{ title: string, file: string, ok: boolean, tests: { status: string, results: { error?: { message?: string } }[] }[] }} Spec
 * @typedef {{ specs?: Spec[], suites?: Suite[] }} Suite
 * @param {{ suites: Suite[], stats: { expected: number, unexpected: number, flaky: number, skipped: number }, errors: unknown[] }} report
 * @returns {Count}
 */
function countPlaywright({ suites, stats, errors }) {
  if (stats.skipped > 0) say(`Not run, so counted as failed: ${stats.skipped} browser tests`);
  const specs = specsIn({ suites });
  const describeSpec = (/** @type {Spec} */ { file, title, tests }) => {
    const message = tests.flatMap(({ results }) => results).find(({ error }) => error)?.error?.message;
    return describeFailure(join(root, 'e2e', file), title, message);
  };
  return {
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected + stats.skipped + errors.length,
    failures: specs.filter(({ ok }) => !ok).map(describeSpec),
    unsteady: specs.filter(({ tests }) => tests.some(({ status }) => status === 'flaky')).map(describeSpec),
  };
}

/**
 * @param {Suite} suite
 * @returns {Spec[]}
 */
function specsIn({ specs = [], suites = [] }) {
  return [...specs, ...suites.flatMap(specsIn)];
}
