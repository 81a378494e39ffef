import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '#test/app/test-server-process.ts';

/** Names the folder that every server of the run begins with a copy of. */
export const DATA_TEMPLATE = 'E2E_DATA_TEMPLATE';

/**
 * A data folder as the program's first start leaves it, made once for the run: the database, its tables and the first
 * administrator take longer than all the rest of a start.
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
