import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the project, wherever a command was started from. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Why a command cannot go on, as one line; printed without a stack. */
export class SetupError extends Error {}

/** @param {string} text */
export function say(text) {
  process.stdout.write(`${text}\n`);
}

/**
 * Runs a command's main function; what it throws ends the command with one line.
 * @param {() => Promise<number>} main answers the exit code
 */
export async function runMain(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`${error instanceof SetupError ? error.message : error?.stack}\n`);
    process.exitCode = 1;
  }
}
