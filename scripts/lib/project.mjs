import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project, independent of the current folder. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** The reason why a command cannot continue, in one line; printed without a stack. */
export class SetupError extends Error {}

/** @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/**
 * Runs a command's main function; an error ends the command, a `SetupError` with one line.
 * @param {() => Promise<number>} main returns the exit code
 */
export async function runMain(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? error.message : error?.stack}\n`);
    process.exitCode = 1;
  }
}
