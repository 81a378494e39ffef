import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, type Figures } from './figures.ts';
import { addProcessorTime, measureIngest } from './ingest.ts';
import { describeGenerator, sendLoad } from './load.ts';
import { count, type Program, withProgram } from './program.ts';
import { createTraders, NO_WAITS, post, TRADING, waitForOutcome } from './traders.ts';

interface Sizes {
  rounds: number;
  users: number;
  seconds: number;
}

const FULL: Sizes = { rounds: 2, users: 1000, seconds: 30 };
const SHORT: Sizes = { rounds: 1, users: 40, seconds: 3 };
const WORKFLOW_LIMIT_MS = 600_000;

/** Deliveries while the engine trades for everybody, beside the same deliveries while it has nothing to do. */
export async function benchTrading({ say, short }: BenchContext): Promise<BenchResult> {
  const sizes = short ? SHORT : FULL;
  const figures = createFigures();
  for (let round = 1; round <= sizes.rounds; round += 1) {
    say(`trading: round ${round} of ${sizes.rounds}`);
    await withProgram({ ...TRADING, ...NO_WAITS }, async (program) => {
      await createTraders(program, sizes.users);
      await sendLoad({ url: program.server.url, hookKey: program.hookKey, kind: 'candle', seconds: 2 });
      const target = { ...program, servers: [program.server] };
      const alone = await measureIngest(target, 'candle', sizes.seconds);
      figures.add('candles alone', '/s', alone.rate);
      await measureWhileTrading({ program, sizes, figures, alone: alone.rate });
    });
  }
  return {
    bench: 'trading',
    about: `Candles over 50 connections for ${sizes.seconds} s while every signal is traded for ${sizes.users.toLocaleString('en')} users`,
    figures: figures.all(),
    notes: [
      await describeGenerator(),
      'Signals, each for a token of its own, follow one another: the next one is sent when all users have had the last one. Paper exchange, waits before checks at 0.',
    ],
  };
}

async function measureWhileTrading(options: {
  program: Program;
  sizes: Sizes;
  figures: Figures;
  alone: number;
}): Promise<void> {
  const { program, sizes, figures, alone } = options;
  const trading = keepTrading(program);
  try {
    while ((await countOrders(program)) === 0) await Promise.race([sleep(50), trading.failed]);
    const ordersBefore = await countOrders(program);
    const target = { ...program, servers: [program.server] };
    const busy = await Promise.race([measureIngest(target, 'candle', sizes.seconds), trading.failed]);
    const orders = (await countOrders(program)) - ordersBefore;
    if (orders === 0) throw new Error('Nothing was traded meanwhile');
    figures.add('candles while trading', '/s', busy.rate);
    figures.add('candles while trading to candles alone', '×', busy.rate / alone, { least: 0.6 });
    figures.add('answer p50 while trading', 'ms', busy.load.p50);
    figures.add('answer p99 while trading', 'ms', busy.load.p99);
    figures.add('slowest answer while trading', 'ms', busy.load.max, { most: 1000, everyRound: true });
    figures.add('orders meanwhile', '/s', orders / busy.load.seconds);
    addProcessorTime(figures, 'candles while trading (orders included)', busy);
  } finally {
    trading.stop();
  }
}

/** Signals without end, one at a time. `failed` never resolves, and rejects when something goes wrong. */
function keepTrading(program: Program): { stop(): void; failed: Promise<never> } {
  let isStopped = false;
  async function run(): Promise<void> {
    for (let number = 1; !isStopped; number += 1) {
      const token = `TRADED${number}`;
      await post(program, 'candle', { token });
      const { id } = await post(program, 'signal', { token });
      await waitForOutcome(program, id, { limitMs: WORKFLOW_LIMIT_MS, pollMs: 250 });
    }
  }
  const failed = new Promise<never>((_resolve, reject) => {
    run().catch((error: unknown) => {
      // The program has been told to end: what was under way fails, as it must.
      if (!isStopped) reject(error);
    });
  });
  failed.catch(() => {});
  return { stop: () => (isStopped = true), failed };
}

const countOrders = (program: Program) => count(program, 'select count(*) as count from paper_orders');
