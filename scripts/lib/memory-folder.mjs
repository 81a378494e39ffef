import { statfs } from 'node:fs/promises';
import { freemem } from 'node:os';

/** A folder in memory on Linux. */
const FOLDER = '/dev/shm';
/** The databases of a whole run, and the same again for the programs. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * The folder for the databases of tests: creating their files on disk takes longer than PostgreSQL itself.
 * In memory where there is room, else TMPDIR or the system's folder.
 * @returns {Promise<{ TMPDIR?: string }>} the environment that selects it
 */
export async function temporaryFolder() {
  if (process.env.TMPDIR !== undefined || process.platform !== 'linux') return {};
  const room = await statfs(FOLDER).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return room >= NEEDED_BYTES && freemem() >= 2 * NEEDED_BYTES ? { TMPDIR: FOLDER } : {};
}
