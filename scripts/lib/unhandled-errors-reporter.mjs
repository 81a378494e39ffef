import { writeFileSync } from 'node:fs';

/**
 * Vitest's report as JSON has the tests alone. An error that came from outside of every test turns the run red as
 * well; it stands here, one text for each, in the file that UNHANDLED_ERRORS_FILE names.
 * @implements {import('vitest/node').Reporter}
 */
export default class UnhandledErrorsReporter {
  /** @type {import('vitest/node').Reporter['onTestRunEnd']} */
  onTestRunEnd(_modules, unhandledErrors) {
    const path = process.env.UNHANDLED_ERRORS_FILE;
    if (!path) throw new Error('UNHANDLED_ERRORS_FILE is not set');
    writeFileSync(path, JSON.stringify(unhandledErrors.map(textOf)));
  }
}

/** @param {import('vitest').SerializedError} error */
function textOf({ name = 'Error', message, stack = '', VITEST_TEST_PATH: file }) {
  const told = stack.includes(message) ? stack : `${name}: ${message}\n${stack}`;
  return file ? `while ${file} ran: ${told}` : told;
}
