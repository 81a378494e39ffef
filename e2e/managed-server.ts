import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '#test/app/test-server-process.ts';
import { DATA_TEMPLATE } from './global-setup.ts';

type Env = Record<string, string>;

/** The real program on one data folder and one URL; tests can stop and restart it. */
export interface ManagedServer {
  /** The origin without a trailing slash; the same after every start. */
  readonly url: string;
  readonly adminUsername: string;
  readonly adminPassword: string;
  readonly dataDir: string;
  /** Everything that the running program has printed. */
  output(): string;
  stop(): Promise<void>;
  /** Adds the given settings to those of the first start. */
  start(env?: Env, args?: string[]): Promise<void>;
  /** Stops the program if it is running and removes its data. */
  remove(): Promise<void>;
}

export async function startManagedServer(env: Env): Promise<ManagedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signal-board-e2e-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  async function startFirst() {
    // ADMIN_PASSWORD needs a real first start, and a database at DATABASE_URL is not in the data folder.
    if (!('ADMIN_PASSWORD' in env) && !('DATABASE_URL' in env))
      await cp(dataTemplate(), dataDir, { recursive: true });
    return await startServerProcess({ env, dataDir });
  }
  const first = await startFirst().catch(async (error: unknown) => {
    await removeData();
    throw error;
  });
  const { url, adminUsername, adminPassword } = first;
  const { port } = new URL(url);
  let running: typeof first | null = first;

  const stop = async () => {
    await running?.stop();
    running = null;
  };
  return {
    url,
    adminUsername,
    adminPassword,
    dataDir,
    output: () => running?.output() ?? '',
    stop,
    async start(more = {}, args = []) {
      running = await startServerProcess({ env: { ...env, ...more, PORT: port }, dataDir, args });
    },
    async remove() {
      await stop();
      await removeData();
    },
  };
}

function dataTemplate(): string {
  const folder = process.env[DATA_TEMPLATE];
  if (folder === undefined) throw new Error(`${DATA_TEMPLATE} is not set: e2e/global-setup.ts did not run`);
  return folder;
}
