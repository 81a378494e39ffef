import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestServerProcess } from '#test/app/test-server-process.ts';

const MIB = 1024 * 1024;
const LIMIT_MS = 10_000;

/** What a program has to be started with for `usedHeapMb`: its inspector, opened by a signal, takes a free port. */
export const WITH_INSPECTOR = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' };

/** What is alive on the program's heap: its garbage is collected first. */
export async function usedHeapMb(server: TestServerProcess): Promise<number> {
  const socket = new WebSocket(await openInspector(server));
  await once(socket, 'open');
  try {
    await call(socket, 1, 'HeapProfiler.collectGarbage');
    const { usedSize } = (await call(socket, 2, 'Runtime.getHeapUsage')) as { usedSize: number };
    return usedSize / MIB;
  } finally {
    socket.close();
  }
}

async function openInspector(server: TestServerProcess): Promise<string> {
  const find = () => /Debugger listening on (ws:\S+)/.exec(server.output())?.[1];
  if (find() === undefined) server.child.kill('SIGUSR1');
  const deadline = Date.now() + LIMIT_MS;
  while (Date.now() < deadline) {
    const address = find();
    if (address !== undefined) return address;
    await sleep(20);
  }
  throw new Error('The program opened no inspector');
}

function call(socket: WebSocket, id: number, method: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('message', function hear({ data }) {
      const answer = JSON.parse(String(data)) as {
        id?: number;
        result?: unknown;
        error?: { message: string };
      };
      if (answer.id !== id) return;
      socket.removeEventListener('message', hear);
      if (answer.error) reject(new Error(answer.error.message));
      else resolve(answer.result);
    });
    socket.send(JSON.stringify({ id, method }));
  });
}
