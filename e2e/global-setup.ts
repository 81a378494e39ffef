import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '#test/app/test-server-process.ts';

/** The environment variable with the template folder that every server of the run copies. */
export const DATA_TEMPLATE = 'E2E_DATA_TEMPLATE';

/**
 * Creates one data folder for the run by starting the program once: creating the database, its tables and the first
 * administrator takes longer than the rest of a start.
 */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'signal-board-e2e-template-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const server = await startServerProcess({ dataDir: folder });
    const code = await server.stop();
    if (code !== 0) throw new Error(`The first start ended with ${code}:\n${server.output()}`);
  } catch (error) {
    await remove();
    throw error;
  }
  process.env[DATA_TEMPLATE] = folder;
  return remove;
}
