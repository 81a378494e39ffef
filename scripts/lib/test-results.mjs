import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { root } from './project.mjs';

/**
 * One test, check or runner. `file` is undefined where no second run of a file could tell more.
 * @typedef {{ file: string | undefined, title: string, passed: boolean, message?: string | undefined }} TestResult
 */

const MESSAGE_LINES = 40;
/** Frames that say nothing about the failure. */
const FOREIGN_FRAME = /^\s+at .*(node_modules|node:|<anonymous>)/;

/** @param {TestResult[]} tests */
export function filesToRetry(tests) {
  const files = tests.flatMap(({ file, passed }) => (passed || file === undefined ? [] : [file]));
  return [...new Set(files)];
}

/**
 * What counts in the end: for a file that was run again its second run. `unsteady` holds one text for each test that
 * failed first and passed then, `failures` one for each that failed.
 * @param {TestResult[]} first
 * @param {TestResult[]} second
 */
export function summarize(first, second) {
  const runAgain = new Set(second.map(({ file }) => file).filter((file) => file !== undefined));
  const isFinal = (/** @type {TestResult} */ { file }) => file === undefined || !runAgain.has(file);
  const final = [...first.filter(isFinal), ...second];
  const failed = final.filter(({ passed }) => !passed);
  const keyOf = (/** @type {TestResult} */ { file, title }) => `${file} › ${title}`;
  const failedAgain = new Set(failed.map(keyOf));
  const unsteady = first.filter((test) => !test.passed && !isFinal(test) && !failedAgain.has(keyOf(test)));
  return {
    passed: final.length - failed.length,
    failed: failed.length,
    unsteady: unsteady.map(describe),
    failures: failed.map(describe),
  };
}

/** @param {TestResult} test */
function describe({ file, title, message = 'no message' }) {
  const lines = stripVTControlCharacters(message)
    .trim()
    .split('\n')
    .filter((line) => line !== '' && !FOREIGN_FRAME.test(line))
    .slice(0, MESSAGE_LINES);
  const heading = file === undefined ? title : `${file} › ${title}`;
  return [`✗ ${heading}`, ...lines.map((line) => `    ${line}`)].join('\n');
}

/** @param {string} path */
export const inProject = (path) => relative(root, path);
