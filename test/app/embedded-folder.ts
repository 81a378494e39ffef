import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach } from 'vitest';
import { findPostmaster, stopPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { type OpenDatabase, openDatabase } from '#server/platform/db/pool.ts';
import { createLog, type Logger } from '#server/platform/log.ts';

const HOLDER = join(import.meta.dirname, 'hold-database.ts');

/** A new data folder for each test. Removes it and stops everything that runs on it after the test. */
export function setUpDataFolder() {
  let root = '';
  let children: ChildProcess[] = [];
  let opened: OpenDatabase[] = [];

  const folder = {
    dataDir: '',
    cluster: () => join(folder.dataDir, 'postgres'),
    async open(options: { onLost?: (error: Error) => void; log?: Logger } = {}): Promise<OpenDatabase> {
      const { log = createLog({ level: 'silent' }), ...others } = options;
      const config = { databaseUrl: null, dataDir: folder.dataDir };
      const database = await openDatabase({ config, log, ...others });
      const close = async () => {
        opened = opened.filter((one) => one !== open);
        await database.close();
      };
      const open = { ...database, close };
      opened.push(open);
      return open;
    },
    /** Starts another program on the same folder; returns it with its first line of output. */
    async holdInChild(): Promise<{ child: ChildProcess; line: string }> {
      const child = spawn(process.execPath, [HOLDER, folder.dataDir], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      const [line] = await once(createInterface(child.stdout), 'line');
      return { child, line: String(line) };
    },
    async postmasterPid(): Promise<number> {
      const server = await findPostmaster(folder.cluster());
      if (!server) throw new Error('No server is running');
      return server.pid;
    },
  };

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'signal-board-embedded-'));
    folder.dataDir = root;
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const database of opened) await database.close();
    children = [];
    const left = await findPostmaster(folder.cluster());
    if (left) {
      await stopPostmaster({ pid: left.pid, waitMs: 10_000 });
      await rm(left.host, { recursive: true });
    }
    await rm(root, { recursive: true, force: true });
  });
  return folder;
}

/** Whether the opened database answers. */
export const isAnswering = ({ pool }: Pick<OpenDatabase, 'pool'>): Promise<boolean> =>
  pool.query('select 1').then(
    () => true,
    () => false,
  );
