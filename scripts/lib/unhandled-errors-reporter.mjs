import { writeFileSync } from 'node:fs';

/**
 * Vitest's JSON report omits errors outside of tests, which also fail the run. Writes file and text of each to
 * UNHANDLED_ERRORS_FILE.
 * @implements {import('vitest/node').Reporter}
 */
export default class UnhandledErrorsReporter {
  /** @type {import('vitest/node').Reporter['onTestRunEnd']} */
  onTestRunEnd(_modules, unhandledErrors) {
    const path = process.env.UNHANDLED_ERRORS_FILE;
    if (!path) throw new Error('UNHANDLED_ERRORS_FILE is not set');
    writeFileSync(path, JSON.stringify(unhandledErrors.map(describe)));
  }
}

/** @param {import('vitest').SerializedError} error */
function describe({ name = 'Error', message, stack = '', VITEST_TEST_PATH: file }) {
  return { file, text: stack.includes(message) ? stack : `${name}: ${message}\n${stack}` };
}
