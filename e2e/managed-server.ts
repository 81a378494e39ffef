import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '#test/test-server-process.ts';

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
  start(env?: Env): Promise<void>;
  /** Stops it, if it runs, and removes its data. */
  remove(): Promise<void>;
}

export async function startManagedServer(env: Env): Promise<ManagedServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signal-board-e2e-'));
  const removeData = () => rm(dataDir, { recursive: true, force: true });
  const first = await startServerProcess({ env, dataDir }).catch(async (error: unknown) => {
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
    async start(more = {}) {
      running = await startServerProcess({ env: { ...env, ...more, PORT: port }, dataDir });
    },
    async remove() {
      await stop();
      await removeData();
    },
  };
}
