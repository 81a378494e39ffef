import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { BenchContext } from './bench.ts';
import { requireRunning } from './cleanup.ts';
import { type BenchResult, createFigures, median, percentile } from './figures.ts';
import { type HostileShape, hostileShapes, sendHostile } from './hostile-requests.ts';
import type { Paced } from './paced-deliveries.ts';
import { type Program, pidOf, withProgram } from './program.ts';

interface Sizes {
  /** Of every shape, one after another and again many at once. */
  requests: number;
  /** Of every shape, to measure the processor time of one. */
  samples: number;
  calmSeconds: number;
}

const FULL: Sizes = { requests: 200, samples: 7, calmSeconds: 20 };
const SHORT: Sizes = { requests: 4, samples: 3, calmSeconds: 3 };
const AT_ONCE = 20;
const DELIVERY_EVERY_MS = 20;
/** By how much hostile requests may slow down the deliveries that run meanwhile. */
const MOST_ADDED_MS = 100;
const NAMED = 5;
const LIMIT_MS = 20 * 60_000;

/** Requests that nobody but an attacker sends, to every route that asks for no session, while valid deliveries run. */
export async function benchHostile({ say, short }: BenchContext): Promise<BenchResult> {
  const sizes = short ? SHORT : FULL;
  const figures = createFigures();
  const shapes = hostileShapes();
  const env = {
    AUTO_TRADE: 'disabled',
    WEBHOOK_RATE_LIMIT: '0',
    TRUST_PROXY: 'loopback',
    METRICS_TOKEN: 'the token of a benchmark',
  };
  const costs = await withProgram(env, async (program) => {
    const attack = createAttack(program, Date.now() + LIMIT_MS);
    say(`hostile: processor time of ${shapes.length} shapes`);
    const found = await measureCosts({ program, shapes, samples: sizes.samples, attack });
    say('hostile: calm');
    const calm = await deliverDuring(program, () => pause(sizes.calmSeconds));
    say(`hostile: ${sizes.requests} of each, one at a time`);
    const single = await deliverDuring(program, () => attack(shapes, sizes.requests, 1));
    say(`hostile: ${sizes.requests} of each, ${AT_ONCE} at once`);
    const many = await deliverDuring(program, () => attack(shapes, sizes.requests, AT_ONCE));
    const p99 = ({ answersMs }: Paced) => percentile(answersMs, 0.99);
    figures.add('deliveries, answer p99, calm', 'ms', p99(calm));
    figures.add('deliveries, answer p99, hostile requests one at a time', 'ms', p99(single));
    figures.add(`deliveries, answer p99, ${AT_ONCE} hostile requests at once`, 'ms', p99(many));
    const target = { most: MOST_ADDED_MS };
    figures.add('added by one at a time', 'ms', p99(single) - p99(calm), target);
    figures.add(`added by ${AT_ONCE} at once`, 'ms', p99(many) - p99(calm), target);
    figures.add(
      'deliveries, slowest answer meanwhile',
      'ms',
      Math.max(...single.answersMs, ...many.answersMs),
    );
    figures.add('deliveries refused', '', calm.refused + single.refused + many.refused, { most: 0 });
    return found;
  });
  const worst = costs.toSorted((a, b) => b.ms - a.ms);
  for (const { name, ms } of worst.slice(0, NAMED)) figures.add(`processor time of one: ${name}`, 'ms', ms);
  return {
    bench: 'hostile',
    about: `${shapes.length} shapes of hostile requests, ${sizes.requests} of each one at a time and ${AT_ONCE} at once, while a valid delivery is sent every ${DELIVERY_EVERY_MS} ms`,
    figures: figures.all(),
    notes: [
      'Each request comes from an address of its own, through a trusted proxy, so that no limit by address hides what one costs.',
      `Processor time is that of all threads of the program, the median of ${sizes.samples} requests sent alone; the ${NAMED} most expensive shapes are named. A sign-in costs one password hash, whoever tries it.`,
    ],
  };
}

type Attack = (shapes: readonly HostileShape[], requests: number, atOnce: number) => Promise<void>;

function createAttack({ server }: Program, deadline: number): Attack {
  let serial = 0;
  return async (shapes, requests, atOnce) => {
    for (const shape of shapes) {
      requireRunning();
      if (Date.now() > deadline) throw new Error('The hostile requests took too long');
      // Those that only wait do so side by side.
      const side = shape.slow ? requests : atOnce;
      for (let sent = 0; sent < requests; sent += side) {
        const batch = Math.min(side, requests - sent);
        await Promise.all(
          Array.from({ length: batch }, () => {
            serial += 1;
            return sendHostile(server.url, shape, serial);
          }),
        );
      }
    }
  };
}

interface Cost {
  name: string;
  ms: number;
}

async function measureCosts(options: {
  program: Program;
  shapes: readonly HostileShape[];
  samples: number;
  attack: Attack;
}): Promise<Cost[]> {
  const { program, shapes, samples, attack } = options;
  if (process.platform !== 'linux') return [];
  const pid = pidOf(program.server);
  const costs: Cost[] = [];
  for (const shape of shapes) {
    if (shape.slow) continue;
    await attack([shape], 1, 1);
    const each: number[] = [];
    for (let sample = 0; sample < samples; sample += 1) {
      const before = await threadsMs(pid);
      await attack([shape], 1, 1);
      each.push((await threadsMs(pid)) - before);
    }
    costs.push({ name: shape.name, ms: median(each) });
  }
  return costs;
}

/** Milliseconds on a processor of all threads of a process; /proc/<pid>/stat counts in hundredths of a second. */
async function threadsMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`);
  const texts = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')),
  );
  return texts.reduce((sum, text) => sum + Number(text.split(' ', 1)[0]) / 1e6, 0);
}

let deliverers = 0;

/** Sends valid deliveries at a steady pace until `work` is done. */
async function deliverDuring({ server, hookKey }: Program, work: () => Promise<void>): Promise<Paced> {
  deliverers += 1;
  const worker = new Worker(new URL('paced-deliveries.ts', import.meta.url), {
    workerData: { url: server.url, hookKey, everyMs: DELIVERY_EVERY_MS, first: deliverers * 1_000_000 },
  });
  try {
    await work();
    worker.postMessage('end');
    const [paced] = (await once(worker, 'message')) as [Paced];
    return paced;
  } finally {
    await worker.terminate();
  }
}

const pause = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1000));
