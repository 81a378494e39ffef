import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, mean, slope } from './figures.ts';
import { usedHeapMb, WITH_INSPECTOR } from './heap.ts';
import { memoryMb } from './processes.ts';
import { count, type Program, pidOf, withProgram } from './program.ts';
import { createTraders, post, TRADING } from './traders.ts';

const USERS = 10;
const TOKENS = 30;
const SIGNAL_EVERY_MS = { full: 4_000, short: 1_000 };
const CANDLES_A_SECOND = 20;
/** Positions are closed by their target before the token's turn comes again. */
const CLOSED_BEFORE = TOKENS / 2;
const TARGET_REACHED = '150';
const LOOK_EVERY_MS = 5_000;
const WAITS = { VERIFY_FIRST_MS: '500', VERIFY_SECOND_MS: '500', CANCEL_DELAY_MS: '200' };
/** Well before the second half: collecting garbage by force must not look like growth afterwards. */
const EARLY = 1 / 3;
/** Garbage comes and goes by tens of megabytes; what leaks does not go. */
const GROWTH_PERCENT = 5;

interface Sample {
  minutes: number;
  pssMb: number;
}

/** A day's work in small, over and over: does the program keep what it no longer needs? */
export async function benchSoak({ say, short, minutes }: BenchContext): Promise<BenchResult> {
  const wanted = short ? 0.7 : minutes;
  const figures = createFigures();
  await withProgram({ ...TRADING, ...WAITS, ...WITH_INSPECTOR }, async (program) => {
    await createTraders(program, USERS);
    const load = startLoad(program, short ? SIGNAL_EVERY_MS.short : SIGNAL_EVERY_MS.full);
    const samples: Sample[] = [];
    const startedAt = performance.now();
    const elapsed = () => (performance.now() - startedAt) / 60_000;
    let heapEarly: number | null = null;
    try {
      for (let said = 0; elapsed() < wanted; ) {
        await Promise.race([sleep(LOOK_EVERY_MS), load.failed]);
        samples.push({ minutes: elapsed(), pssMb: await memoryMb([pidOf(program.server)]) });
        if (heapEarly === null && elapsed() > wanted * EARLY) heapEarly = await usedHeapMb(program.server);
        if (elapsed() > said) {
          say(`soak: ${said} of ${wanted} minutes, ${samples.at(-1)?.pssMb.toFixed()} MB`);
          said += 5;
        }
      }
      if (heapEarly === null) throw new Error('The soak was too short');
      const heapAtEnd = await usedHeapMb(program.server);
      const half = samples.filter((sample) => sample.minutes > wanted / 2);
      const meanMb = mean(half.map(({ pssMb }) => pssMb));
      const perMinute = slope(half.map((sample) => ({ x: sample.minutes, y: sample.pssMb })));
      const growthMb = (perMinute * wanted) / 2;
      figures.add('memory, mean of the second half', 'MB', meanMb);
      figures.add('memory, greatest', 'MB', Math.max(...samples.map(({ pssMb }) => pssMb)));
      figures.add('growth of memory over the second half', '%', (100 * growthMb) / meanMb, {
        most: GROWTH_PERCENT,
      });
      figures.add('growth of memory', 'MB an hour', perMinute * 60);
      figures.add('heap in use after collecting garbage, after a third', 'MB', heapEarly);
      figures.add('heap in use after collecting garbage, at the end', 'MB', heapAtEnd);
      figures.add('growth of the heap in use', '%', 100 * (heapAtEnd / heapEarly - 1), {
        most: GROWTH_PERCENT,
      });
      const orders = await count(program, 'select count(*) as count from paper_orders');
      const closed = await count(
        program,
        `select count(*) as count from paper_trigger_orders where state <> 'live'`,
      );
      if (orders === 0 || closed === 0) throw new Error('No position was opened, or none was closed');
      figures.add('deliveries', '/min', load.sent() / wanted);
      figures.add('orders', '/min', orders / wanted);
      figures.add('stops and targets that ended', '/min', closed / wanted);
    } finally {
      await load.stop();
    }
  });
  return {
    bench: 'soak',
    about: `${wanted} minutes of alerts and trading for ${USERS} users: candles, signals, positions that open and close at their targets`,
    figures: figures.all(),
    notes: [
      'Memory is the proportional set size of the program, looked at every five seconds.',
      `No growth trend means here: at most ${GROWTH_PERCENT} % over the second half, by the line of least squares, and of the heap in use.`,
    ],
  };
}

interface SoakLoad {
  sent(): number;
  stop(): Promise<void>;
  /** Never resolves; rejects when a delivery is not answered 200. */
  failed: Promise<never>;
}

function startLoad(program: Program, signalEveryMs: number): SoakLoad {
  let isStopped = false;
  let sent = 0;
  const send: typeof post = async (...delivery) => {
    sent += 1;
    return post(...delivery);
  };
  async function sendCandles(): Promise<void> {
    for (let number = 0; !isStopped; number += 1) {
      await send(program, 'candle', { token: `IDLE${number % 60}`, price: String(100 + (number % 7) / 10) });
      await sleep(1000 / CANDLES_A_SECOND);
    }
  }
  async function sendSignals(): Promise<void> {
    for (let number = 0; !isStopped; number += 1) {
      const token = `SOAK${number % TOKENS}`;
      await send(program, 'candle', { token });
      await send(program, 'signal', { token });
      if (number >= CLOSED_BEFORE) {
        const earlier = `SOAK${(number - CLOSED_BEFORE) % TOKENS}`;
        await send(program, 'candle', { token: earlier, price: TARGET_REACHED });
      }
      await sleep(signalEveryMs);
    }
  }
  const working = Promise.all([sendCandles(), sendSignals()]);
  const failed = new Promise<never>((_resolve, reject) => void working.catch(reject));
  failed.catch(() => {});
  return {
    sent: () => sent,
    failed,
    async stop() {
      isStopped = true;
      await working.catch(() => {});
    },
  };
}
