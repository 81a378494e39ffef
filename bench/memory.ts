import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, type Figures, type Target } from './figures.ts';
import { countStored } from './ingest.ts';
import { sendLoad } from './load.ts';
import type { Kind } from './payloads.ts';
import { memoryMb, processTree } from './processes.ts';
import { count, cpuUsed, type Program, pidOf, withProgram } from './program.ts';

interface Sizes {
  idleSeconds: number;
  alerts: Record<Kind, number>;
}

const FULL: Sizes = { idleSeconds: 60, alerts: { candle: 95_000, signal: 5_000 } };
const SHORT: Sizes = { idleSeconds: 3, alerts: { candle: 950, signal: 50 } };
const LOAD_SECONDS = 1;
const LOOK_EVERY_MS = 500;
const WORK_LIMIT_MS = 900_000;

/** What the program holds when nobody uses it, and after many alerts have gone through it. */
export async function benchMemory({ say, short }: BenchContext): Promise<BenchResult> {
  const { idleSeconds, alerts } = short ? SHORT : FULL;
  const all = alerts.candle + alerts.signal;
  const notes = [
    'Memory is the proportional set size: what processes share is counted once.',
    `The alerts: ${alerts.candle.toLocaleString('en')} candles and ${alerts.signal.toLocaleString('en')} signals as fast as they are taken, then a wait until every workflow has ended. Automatic trading is on, and there is nobody to trade for.`,
  ];
  const result: BenchResult = {
    bench: 'memory',
    about: `Memory and processor time without a request, and memory after ${all.toLocaleString('en')} alerts`,
    figures: [],
    notes,
  };
  if (process.platform !== 'linux') {
    notes.push('Not measured: it reads /proc, which is there on Linux alone.');
    return result;
  }
  const figures = createFigures();
  await withProgram({ WEBHOOK_RATE_LIMIT: '0' }, async (program) => {
    await addMemory(figures, program, 'after the start');
    say(`memory: waiting ${idleSeconds} s`);
    const before = await cpuUsed([program.server], program.postmaster);
    await sleep(idleSeconds * 1000);
    const after = await cpuUsed([program.server], program.postmaster);
    for (const part of ['program', 'database'] as const) {
      const seconds = (after?.[part] ?? 0) - (before?.[part] ?? 0);
      figures.add(`${part}: processor time in ${idleSeconds} s at rest`, 's', seconds);
    }
    await addMemory(figures, program, 'at rest', { most: 250 });

    say(`memory: ${all.toLocaleString('en')} alerts`);
    const watch = watchMemory(program);
    for (const kind of ['candle', 'signal'] as const) await fill(program, kind, alerts[kind]);
    say('memory: until all workflows have ended');
    await waitForWorkflows(program);
    const greatest = await watch.stop();
    await sleep(Math.min(idleSeconds, 10) * 1000);
    figures.add('program: greatest meanwhile', 'MB', greatest);
    await addMemory(figures, program, `after ${all.toLocaleString('en')} alerts`, { most: 350 });
  });
  return { ...result, figures: figures.all() };
}

async function addMemory(figures: Figures, program: Program, when: string, target?: Target): Promise<void> {
  const { server, postmaster } = program;
  figures.add(`program: ${when}`, 'MB', await memoryMb([pidOf(server)]), target);
  figures.add(`database: ${when}`, 'MB', await memoryMb(await processTree(postmaster.pid)));
}

async function fill(program: Program, kind: Kind, wanted: number): Promise<void> {
  while ((await countStored(program, kind)) < wanted) {
    await sendLoad({ url: program.server.url, hookKey: program.hookKey, kind, seconds: LOAD_SECONDS });
  }
}

async function waitForWorkflows(program: Program): Promise<void> {
  const deadline = Date.now() + WORK_LIMIT_MS;
  for (;;) {
    const left = await count(program, 'select count(*) as count from workflows where completed_at is null');
    if (left === 0) return;
    if (Date.now() > deadline) throw new Error(`${left} workflows did not end`);
    await sleep(500);
  }
}

function watchMemory({ server }: Program): { stop(): Promise<number> } {
  let greatest = 0;
  let isStopped = false;
  async function look(): Promise<void> {
    while (!isStopped) {
      greatest = Math.max(greatest, await memoryMb([pidOf(server)]));
      await sleep(LOOK_EVERY_MS);
    }
  }
  const looking = look();
  return {
    async stop() {
      isStopped = true;
      await looking;
      return greatest;
    },
  };
}
