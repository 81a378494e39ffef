import { expect, test } from 'vitest';
import { listTradeEvents } from '#server/engine/records/trades.store.ts';
import { createDatabaseClock } from '#server/platform/db/database-clock.ts';
import { acquireLease, LEASE_SECONDS } from '#server/platform/jobs/leases.ts';
import { ALWAYS, planTrade, sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { advanceTrade } from './advance-trade.ts';

const engine = sharedTestEngine();
const APART_MS = 10 * 60_000;

/** Another instance, on a machine whose clock is wrong; the database's is right. */
async function instanceAhead(ms: number) {
  const { clock, db } = engine;
  await engine.databaseTime.hold(clock.now());
  const wrong = { ...clock, now: () => new Date(clock.now().getTime() + ms) };
  const databaseClock = createDatabaseClock({ clock: wrong, db, log: { warn() {} } });
  await databaseClock.measure();
  return engine.depsWith({
    clock: databaseClock.clock,
    config: { ...engine.deps.config, instanceId: 'second-instance' },
  });
}

// Requirements: order-execution-9
test.each([
  ['ahead', APART_MS],
  ['behind', -APART_MS],
])(
  'an instance ten minutes %s continues an order when it is due, and its timeline is in order',
  async (_, ms) => {
    const second = await instanceAhead(ms);
    const { trade } = await planTrade(engine, {
      faults: [{ kind: 'partialFill', fraction: 'one step', on: { times: ALWAYS } }],
    });
    await advanceTrade(engine.deps, trade.id);
    const state = async () => (await engine.attempts(trade.id)).at(-1)?.state;
    expect(await state()).toBe('open');
    await advanceTrade(second, trade.id);
    expect(await state()).toBe('open');
    for (let step = 0; (await engine.trade(trade.id)).state !== 'done'; step += 1) {
      expect(step).toBeLessThan(20);
      await engine.advance(trade.id, step % 2 === 0 ? second : engine.deps);
    }
    const shown = await listTradeEvents(engine.db, trade.id);
    expect(shown.length).toBeGreaterThan(5);
    // Ids are in the order of writing.
    expect(shown.map(({ id }) => id)).toEqual(shown.map(({ id }) => id).toSorted());
  },
);

test('a lease of an instance ends for one with a wrong clock when it ends for all', async () => {
  const second = await instanceAhead(APART_MS);
  const key = 'user of an instance that died';
  await acquireLease({ db: engine.db, key, holder: 'first-instance' });
  const take = () => acquireLease({ db: second.db, key, holder: second.config.instanceId });
  engine.clock.advance(LEASE_SECONDS * 1_000 + 1);
  expect(await take()).toBeNull();
  await engine.databaseTime.pass(LEASE_SECONDS * 1_000 + 1);
  expect(await take()).not.toBeNull();
});
