import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { type BenchResult, createFigures, type Figures, percentile } from './figures.ts';
import { placeBareOrders } from './first-order.ts';
import { memoryMb } from './processes.ts';
import { cpuUsed, type Program, pidOf, withProgram } from './program.ts';
import { createTraders, NO_WAITS, post, TRADING, waitForOutcome } from './traders.ts';

const LIMIT_MS = 600_000;
const LOOK_EVERY_MS = 250;
const BARE = 'BARE';

/** One signal for a thousand users, beside as many orders that the client library sends in a loop. */
export async function benchFanOut({ say, short }: BenchContext): Promise<BenchResult> {
  const users = short ? 50 : 1000;
  const rounds = short ? 1 : 2;
  const figures = createFigures();
  for (let round = 1; round <= rounds; round += 1) {
    say(`fan-out: round ${round} of ${rounds}`);
    await withProgram({ ...TRADING, ...NO_WAITS }, async (program) => {
      await createTraders(program, users);
      await post(program, 'candle', { token: BARE });
      const bareMs = await placeBareOrders(program, { token: BARE, count: users });
      const loopMs = bareMs.reduce((sum, ms) => sum + ms, 0);
      figures.add(`${users} orders by the library alone, in a loop`, 's', loopMs / 1000);
      await measure({ program, users, loopMs, figures });
    });
  }
  return {
    bench: 'fan-out',
    about: `One signal, ${users.toLocaleString('en')} eligible users, paper exchange, waits before checks at 0`,
    figures: figures.all(),
    notes: [
      'The end is that of the workflow: every order is filled, read back, and its stop and target are seen at the exchange. The loop only places orders.',
      'Memory is the proportional set size of the program; screens are asked every quarter of a second meanwhile.',
    ],
  };
}

async function measure(options: {
  program: Program;
  users: number;
  loopMs: number;
  figures: Figures;
}): Promise<void> {
  const { program, users, loopMs, figures } = options;
  const { server, postmaster } = program;
  const token = 'MANY';
  await post(program, 'candle', { token });
  await sleep(1000);
  const callsBefore = await countExchangeCalls(program);
  const cpuBefore = await cpuUsed([server], postmaster);
  const watch = watchProgram(program);
  const { id, answeredAt } = await post(program, 'signal', { token });
  const outcome = await waitForOutcome(program, id, { limitMs: LIMIT_MS, pollMs: 250 });
  const seen = await watch.stop();
  const cpuAfter = await cpuUsed([server], postmaster);
  const calls = (await countExchangeCalls(program)) - callsBefore;
  if (outcome.successful !== users)
    throw new Error(`${outcome.successful} of ${users} users were successful`);
  const endMs = outcome.endedAt - answeredAt;
  figures.add('200 to the first order', 'ms', outcome.firstOrderAt - answeredAt);
  figures.add('200 to the last order', 's', (outcome.lastOrderAt - answeredAt) / 1000);
  figures.add('200 to the end of the workflow', 's', endMs / 1000);
  figures.add('end of the workflow to the loop', '×', endMs / loopMs, { most: 4 });
  figures.add('requests to the exchange for each user', '', calls / users);
  figures.add('last order to the loop', '×', (outcome.lastOrderAt - answeredAt) / loopMs);
  if (seen.memoryMb.length > 0) {
    figures.add('greatest memory of the program', 'MB', Math.max(...seen.memoryMb), {
      most: 500,
      everyRound: true,
    });
  }
  figures.add('GET /api/signals meanwhile, p95', 'ms', percentile(seen.signalsMs, 0.95), { most: 250 });
  figures.add('GET /healthz meanwhile, p95', 'ms', percentile(seen.healthMs, 0.95), { most: 100 });
  if (cpuBefore && cpuAfter) {
    for (const part of ['program', 'database'] as const) {
      const ms = (1000 * (cpuAfter[part] - cpuBefore[part])) / users;
      figures.add(`processor time of the ${part} for each user`, 'ms', ms);
    }
  }
}

async function countExchangeCalls({ server }: Program): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  const counters = text.matchAll(/^signal_board_exchange_calls_total(?:\{.*\})? (\d+)/gm);
  return [...counters].reduce((sum, [, value]) => sum + Number(value), 0);
}

interface Seen {
  memoryMb: number[];
  signalsMs: number[];
  healthMs: number[];
}

/** Looks at the program while it works, as an operator's screens and a load balancer do. */
function watchProgram({ server, client }: Program): { stop(): Promise<Seen> } {
  const seen: Seen = { memoryMb: [], signalsMs: [], healthMs: [] };
  let isStopped = false;
  async function look(): Promise<void> {
    while (!isStopped) {
      const startedAt = performance.now();
      seen.signalsMs.push(await timed(() => client.get('/api/signals')));
      seen.healthMs.push(await timed(async () => (await fetch(`${server.url}/healthz`)).text()));
      if (process.platform === 'linux') seen.memoryMb.push(await memoryMb([pidOf(server)]));
      await sleep(Math.max(0, LOOK_EVERY_MS - (performance.now() - startedAt)));
    }
  }
  const looking = look();
  looking.catch(() => {});
  return {
    async stop() {
      isStopped = true;
      await looking;
      return seen;
    },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
