import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '#test/app/test-server-process.ts';
import { DATA_TEMPLATE } from './global-setup.ts';

type Env = Record<string, string>;

/** The real program on one data folder and one address, which tests may stop and start again. */
export interface ManagedServer {
  /** The origin, without a slash at the end; the same after every start. */
  readonly url: string;
  readonly adminUsername: string;
  readonly adminPassword: string;
  readonly dataDir: string;
  /** What the running program has printed. */
  output(): string;
  stop(): Promise<void>;
  /** With the settings of the first start, and those given on top of them. */
  start(env?: Env, args?: string[]): Promise<void>;
  /** Stops it, if it runs, and removes its data. */
  remove(): Promise<void>;
}

export async function startManagedServer(env: Env): Promise<ManagedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signal-board-e2e-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  async function startFirst() {
    // Who says whose password it is wants the very first start, and another's database is not in the folder.
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
