import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { findPostmaster } from '#server/platform/db/embedded-postmaster.ts';
import { spawnProgram, startServerProcess, type TestServerProcess } from './test-server-process.ts';

/** Gives every test of the file a data folder and stops the programs that the test started there. */
export function programFolder() {
  let dataDir = '';
  let servers: TestServerProcess[] = [];
  let children: ChildProcess[] = [];

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'signal-board-main-'));
    servers = [];
    children = [];
  });
  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const server of servers) await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  function spawn(env: Record<string, string> = {}, args: string[] = []) {
    const { child } = spawnProgram({ dataDir, env: { PORT: '0', ...env }, args });
    children.push(child);
    return child;
  }

  return {
    dataDir: () => dataDir,
    cluster: () => join(dataDir, 'postgres'),
    databaseRuns: async () => (await findPostmaster(join(dataDir, 'postgres'))) !== null,
    spawnProgram: spawn,
    async start(env: Record<string, string> = {}, args: string[] = []): Promise<TestServerProcess> {
      const server = await startServerProcess({ dataDir, env, args });
      servers.push(server);
      return server;
    },
    /** Runs the program until it exits, for starts that fail. */
    async runToEnd(env: Record<string, string>, args: string[] = []) {
      const child = spawn(env, args);
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (text) => (stdout += String(text)));
      child.stderr.on('data', (text) => (stderr += String(text)));
      const [code] = await once(child, 'close');
      return { code, stdout, stderr };
    },
    async login(server: TestServerProcess, password: string): Promise<number> {
      const answer = await fetch(`${server.url}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: server.url },
        body: JSON.stringify({ username: server.adminUsername, password }),
      });
      return answer.status;
    },
  };
}
