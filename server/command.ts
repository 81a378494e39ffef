import { StartError } from './platform/db/start-error.ts';

/** Runs a command of the operator with its arguments; a failure that the operator can act on prints one line. */
export async function runCommand(main: (args: string[]) => Promise<void>): Promise<void> {
  try {
    await main(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof StartError ? error.message : error);
    process.exitCode = 1;
  }
}
