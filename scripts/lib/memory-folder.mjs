import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';

/** On Linux a folder that is kept in memory. */
const FOLDER = '/dev/shm';
/** The databases of a whole run, and as much again for the programs. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * The folder for the tests' hundreds of databases, which a disk's file system takes longer for than PostgreSQL: in memory
 * where there is enough, else TMPDIR or the system's.
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
