import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, createFigures } from './figures.ts';
import { cpuSeconds, memoryMb, processTree } from './processes.ts';
import { withProgram } from './program.ts';

const IDLE_SECONDS = 60;

/** What a program costs that nobody uses: memory, and processor time in a minute. */
export async function benchAtRest(say: (line: string) => void): Promise<BenchResult> {
  const notes = ['Memory is the proportional set size: what processes share is counted once.'];
  const result: BenchResult = {
    bench: 'at-rest',
    about: `Memory after the start and after ${IDLE_SECONDS} s without a request, and processor time in between`,
    figures: [],
    notes,
  };
  if (process.platform !== 'linux') {
    notes.push('Not measured: it reads /proc, which is there on Linux alone.');
    return result;
  }
  const figures = createFigures();
  await withProgram({}, async ({ server, postmaster }) => {
    const pid = server.child.pid;
    if (pid === undefined) throw new Error('The program has no process');
    const parts = {
      program: async () => [pid],
      database: () => processTree(postmaster.pid),
    };
    const used = new Map<string, number>();
    for (const [name, find] of Object.entries(parts)) {
      const pids = await find();
      figures.add(`${name}: memory after the start`, 'MB', await memoryMb(pids));
      used.set(name, await cpuSeconds(pids));
    }
    say(`at-rest: waiting ${IDLE_SECONDS} s`);
    await sleep(IDLE_SECONDS * 1000);
    for (const [name, find] of Object.entries(parts)) {
      const pids = await find();
      figures.add(`${name}: memory after ${IDLE_SECONDS} s`, 'MB', await memoryMb(pids));
      const seconds = (await cpuSeconds(pids)) - (used.get(name) ?? 0);
      figures.add(`${name}: processor time in ${IDLE_SECONDS} s`, 's', seconds);
    }
  });
  return { ...result, figures: figures.all() };
}
