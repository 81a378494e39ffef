import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext } from './bench.ts';
import { runBaseline } from './child.ts';
import { type BenchResult, createFigures, median, percentile } from './figures.ts';
import { databaseUrl, type Program, withProgram } from './program.ts';
import { createTraders, post, TRADING, waitForOutcome } from './traders.ts';

/** A user's account stays small: the next user takes over after so many positions. */
const SIGNALS_A_USER = 25;
const WAITS = { VERIFY_FIRST_MS: '200', VERIFY_SECOND_MS: '200', CANCEL_DELAY_MS: '100' };
const LIMIT_MS = 60_000;
/** So that a signal meets a program at rest. */
const PAUSE_MS = 200;
/** Most orders are there by then. */
const ORDER_MS = 150;

/** From a signal's answer to its order at the exchange, beside an order that is sent by the client library alone. */
export async function benchFirstOrder({ say, short }: BenchContext): Promise<BenchResult> {
  const signals = short ? 10 : 120;
  const warmUp = short ? 2 : 10;
  const figures = createFigures();
  await withProgram({ ...TRADING, ...WAITS }, async (program) => {
    const users = await createTraders(program, Math.ceil((signals + warmUp) / SIGNALS_A_USER));
    for (const user of users.slice(1)) await setTrading(program, user, false);

    say(`first-order: ${signals} orders by the client library alone`);
    await post(program, 'candle', { token: 'BARE' });
    const bare = await placeBareOrders(program, { token: 'BARE', count: signals + warmUp });
    const bareMs = bare.slice(warmUp);
    for (const ms of bareMs) figures.add('one order by the library alone', 'ms', ms);

    // As tokens are that are traded: their candles have come, so the list of contracts has them.
    for (let number = 0; number < signals + warmUp; number += 1)
      await post(program, 'candle', { token: tokenOf(number) });
    say(`first-order: ${signals} signals`);
    const firstMs: number[] = [];
    for (let number = 0; number < signals + warmUp; number += 1) {
      if (number > 0 && number % SIGNALS_A_USER === 0)
        await handOver(program, users, number / SIGNALS_A_USER);
      const ms = await measure(program, tokenOf(number));
      if (number >= warmUp) firstMs.push(ms);
    }
    for (const ms of firstMs) figures.add('200 to the order at the exchange', 'ms', ms);
    figures.add(
      '200 to the order, median less that of the library alone',
      'ms',
      median(firstMs) - median(bareMs),
      {
        most: 40,
      },
    );
    figures.add('200 to the order at the exchange, p99', 'ms', percentile(firstMs, 0.99), { most: 250 });
    figures.add('one order by the library alone, p99', 'ms', percentile(bareMs, 0.99));
  });
  return {
    bench: 'first-order',
    about: "From the answer to a signal until the paper exchange has one eligible user's order",
    figures: figures.all(),
    notes: [
      "The order's time is the paper exchange's own. The program works in whole milliseconds.",
      'By the library alone: the real client and transport against the test venue in their own process, on the same books and database, without the engine; the whole round trip of an order.',
      `One signal at a time, each for a token of its own that has had candles before; a new user after ${SIGNALS_A_USER} positions.`,
    ],
  };
}

const tokenOf = (number: number) => `FIRST${number}`;

/** The milliseconds of each order. */
export async function placeBareOrders(
  { postmaster }: Pick<Program, 'postmaster'>,
  { token, count }: { token: string; count: number },
): Promise<number[]> {
  const { ordersMs } = await runBaseline<{ ordersMs: number[] }>('ccxt-orders', {
    args: [token, String(count)],
    env: { DATABASE_URL: databaseUrl(postmaster) },
    limitMs: 300_000,
  });
  return ordersMs;
}

const setTrading = ({ client }: Program, userId: string, activeTrading: boolean) =>
  client.put(`/api/admin/user/${userId}/active-trading`, { activeTrading });

async function handOver(program: Program, users: readonly string[], turn: number): Promise<void> {
  await setTrading(program, users[turn - 1] ?? '', false);
  await setTrading(program, users[turn] ?? '', true);
}

async function measure(program: Program, token: string): Promise<number> {
  await post(program, 'candle', { token });
  await sleep(PAUSE_MS);
  const { id, answeredAt } = await post(program, 'signal', { token });
  // Both times are the program's: it is asked when the order is there, and a connection costs what an order costs.
  await sleep(ORDER_MS);
  const outcome = await waitForOutcome(program, id, { limitMs: LIMIT_MS, pollMs: 50 });
  if (outcome.successful !== 1) throw new Error(`${outcome.successful} of 1 users were successful`);
  return outcome.firstOrderAt - answeredAt;
}
