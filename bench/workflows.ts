import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, type Figures } from './figures.ts';
import { count, cpuUsed, type Program, withProgram } from './program.ts';
import { NO_WAITS, post, TRADING } from './traders.ts';

interface Sizes {
  rounds: number;
  signals: number;
}

const FULL: Sizes = { rounds: 3, signals: 1000 };
const SHORT: Sizes = { rounds: 1, signals: 60 };
/** Workflows of one token run one after the other. */
const TOKENS = Array.from({ length: 20 }, (_, index) => `NOBODY${index + 1}`);
const IDLE_MS = 5_000;
const LIMIT_MS = 120_000;

/** Signals of which nobody is traded, from the delivery until each one's workflow has ended. */
export async function benchWorkflows({ say, short }: BenchContext): Promise<BenchResult> {
  const sizes = short ? SHORT : FULL;
  const figures = createFigures();
  for (let round = 1; round <= sizes.rounds; round += 1) {
    say(`workflows: round ${round} of ${sizes.rounds}`);
    await withProgram({ ...TRADING, ...NO_WAITS }, async (program) => {
      for (const token of TOKENS) await post(program, 'candle', { token });
      // The first ones are run by code that is not compiled yet.
      await runSignals(program, TOKENS.length);
      await measure(program, sizes, figures);
    });
  }
  return {
    bench: 'workflows',
    about: `${sizes.signals.toLocaleString('en')} signals for ${TOKENS.length} tokens, no eligible user`,
    figures: figures.all(),
    notes: [
      'Each workflow goes as far as the selection of users, its price asked of the paper exchange. What the program takes when idle is taken off.',
    ],
  };
}

async function measure(program: Program, { signals }: Sizes, figures: Figures): Promise<void> {
  const { server, postmaster } = program;
  const used = () => cpuUsed([server], postmaster);
  const atRest = await used();
  await sleep(IDLE_MS);
  const before = await used();
  const startedAt = performance.now();
  await runSignals(program, signals);
  const tookMs = performance.now() - startedAt;
  const after = await used();
  figures.add('workflows', '/s', (1000 * signals) / tookMs);
  if (atRest === null || before === null || after === null) return;
  for (const part of ['program', 'database'] as const) {
    const idle = ((before[part] - atRest[part]) / IDLE_MS) * tookMs;
    const ms = (1000 * (after[part] - before[part] - idle)) / signals;
    figures.add(`processor time of the ${part} for each signal and its workflow`, 'ms', ms);
  }
}

/** Resolves when the last of their workflows has ended, each as it has to: there was nobody to be traded. */
async function runSignals(program: Program, signals: number): Promise<void> {
  const ended = (status: string) =>
    count(program, `select count(*) as count from workflows where status ${status}`);
  const all = (await ended("= 'completed'")) + signals;
  for (let sent = 0; sent < signals; sent += TOKENS.length) {
    const tokens = TOKENS.slice(0, signals - sent);
    await Promise.all(tokens.map((token) => post(program, 'signal', { token })));
  }
  const deadline = performance.now() + LIMIT_MS;
  while ((await ended("= 'completed'")) < all) {
    const failed = await ended("in ('failed', 'aborted')");
    if (failed > 0) throw new Error(`${failed} workflows failed`);
    if (performance.now() > deadline) throw new Error(`the workflows did not end within ${LIMIT_MS} ms`);
    await sleep(100);
  }
}
