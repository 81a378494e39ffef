import { expect, test } from 'vitest';
import { createGate } from '#server/exchanges/paper/gate.ts';
import { createTestDatabase } from '../app/test-database.ts';
import { runScenario, type ScenarioRun } from './scenarios.ts';

/**
 * Every scenario of `npm run faults` with small sizes, but with the same program, sender, exchange, network and oracle
 * as the long form. docs/reliability.md has the figures of the long form.
 */
const atATime = createGate(3);

async function violationsOf(run: ScenarioRun): Promise<{ violations: string[]; output: string }> {
  const books = await createTestDatabase();
  const lines: string[] = [];
  try {
    const say = (line: string) => lines.push(line);
    const context = { seed: 'short', say, exchangeDatabase: books.database };
    const { violations } = await runScenario(context, run);
    return { violations, output: lines.join('\n') };
  } finally {
    await books.close();
  }
}

// Concurrent, because scenarios mostly wait for leases to expire and for the next delivery.
test.concurrent.each<[string, ScenarioRun]>([
  [
    'kill -9 of the program loses and duplicates no acknowledged alert',
    {
      name: 'kill-app',
      sizes: { alerts: 30, kills: 1, perSecond: 15, tradeEvery: 10, database: 'embedded' },
    },
  ],
  [
    'kill -9 of PostgreSQL loses and duplicates no acknowledged alert',
    {
      name: 'kill-database',
      sizes: { alerts: 30, kills: 1, perSecond: 15, tradeEvery: 10, database: 'external' },
    },
  ],
  [
    'a crash between acceptance and answer leads to one order, even when the exchange lost its stop',
    { name: 'crash-points', sizes: { seeds: 1, points: 'P9-accepted', faults: 'none stop-dropped' } },
  ],
  [
    'an alert repeated to two instances becomes one signal with one workflow and order',
    { name: 'duplicates', sizes: { repeated: 6, bursts: 2, burstOf: 20, instances: 2, apartMs: 200 } },
  ],
  [
    'an instance frozen during an order sends no second one when it wakes up',
    {
      name: 'zombies',
      sizes: { signals: 2, rounds: 1, instances: 2, frozenMs: 6_000, moments: 'set-leverage' },
    },
  ],
  [
    'a database connection cut after COMMIT loses and duplicates no alert',
    {
      name: 'database-restarts',
      sizes: {
        minutes: 0.1,
        everySeconds: 6,
        perSecond: 8,
        instances: 1,
        answerWithinMs: 20_000,
        outages: 'commit-cut',
      },
    },
  ],
  [
    'SIGTERM under load exits with code 0 and loses nothing',
    { name: 'sigterm-under-load', sizes: { times: 1, perSecond: 10, tradeEvery: 10, database: 'embedded' } },
  ],
])(
  '%s',
  async (_title, run) => {
    const { violations, output } = await atATime(() => violationsOf(run));
    expect(violations, output).toEqual([]);
  },
  240_000,
);
