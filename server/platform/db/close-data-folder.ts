import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../log.ts';

const PRIVATE_FILES = ['instance.lock', 'secret.key', 'postgres.log'];
const OF_OTHERS = 0o077;
/** What another user who runs the database needs to get to its folder; nothing can be listed or read with it. */
const TO_PASS = 0o011;

/** Takes the rights of other users away from a data folder that an earlier version or a umask left open. */
export async function closeDataFolder(options: { dataDir: string; log: Logger }): Promise<void> {
  if (process.platform === 'win32') return;
  const { dataDir, log } = options;
  const [folder, cluster] = await Promise.all([statOf(dataDir), statOf(join(dataDir, 'postgres'))]);
  const mayPass = cluster !== null && folder !== null && cluster.uid !== folder.uid;
  const outcomes = [
    { name: '.', outcome: await closeToOthers(dataDir, mayPass ? TO_PASS : 0) },
    ...(await Promise.all(
      PRIVATE_FILES.map(async (name) => ({ name, outcome: await closeToOthers(join(dataDir, name), 0) })),
    )),
  ];
  const named = (wanted: Outcome) =>
    outcomes.filter(({ outcome }) => outcome === wanted).map(({ name }) => name);
  const [closed, open] = [named('closed'), named('open')];
  if (closed.length > 0) {
    log.warn(
      { dataDir, closed },
      'DATA_DIR was open to other users of this machine; it is for its owner alone now',
    );
  }
  if (open.length > 0) {
    log.warn(
      { dataDir, open },
      'DATA_DIR is open to other users of this machine and cannot be closed by this one; set the folder to 0700 and its files to 0600',
    );
  }
}

type Outcome = 'private' | 'closed' | 'open';

async function closeToOthers(path: string, allowed: number): Promise<Outcome> {
  const isOpen = (mode: number) => (mode & OF_OTHERS & ~allowed) !== 0;
  const before = await statOf(path);
  if (before === null || !isOpen(before.mode)) return 'private';
  await chmod(path, before.mode & ~(OF_OTHERS & ~allowed) & 0o7777).catch(() => {});
  // Some file systems take the call and keep their rights.
  const after = await statOf(path);
  return after !== null && isOpen(after.mode) ? 'open' : 'closed';
}

const statOf = (path: string) => stat(path).catch(() => null);
