import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';

/** On Linux a folder that is kept in memory. */
const FOLDER = '/dev/shm';
/** The databases of a whole run, and as much again for the programs. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Where the tests put what they throw away: several hundred databases, which cost a disk's file system more than
 * PostgreSQL. In memory, where there is plenty of it; else where the system puts such things, or TMPDIR says.
 * @returns {Promise<{ TMPDIR?: string }>} the environment that says so
 */
export async function temporaryFolder() {
  if (process.env.TMPDIR !== undefined || process.platform !== 'linux') return {};
  const room = await statfs(FOLDER).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return room >= NEEDED_BYTES && freemem() >= 2 * NEEDED_BYTES ? { TMPDIR: FOLDER } : {};
}
