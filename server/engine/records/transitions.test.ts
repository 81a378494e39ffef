import { eq, inArray, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { orderAttempts, tradeEvents, userSettings, users } from '#server/platform/db/schema.ts';
import { acquireLease, handOverLeases, type Lease, LeaseLostError } from '#server/platform/jobs/leases.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { planTrade, sharedTestEngine, withTransaction } from '#test/app/shared-test-engine.ts';
import { type Transition, tradeKey } from './transitions.ts';

const engine = sharedTestEngine({ settles: false });
let lead: Planned;
beforeEach(async () => {
  lead = await planned();
});

const HOLDER = 'a worker';

async function planned() {
  const { trade, userId } = await planTrade(engine);
  const [attempt] = await engine.attempts(trade.id);
  const lease = await acquireLease({ db: engine.db, key: tradeKey(trade.id), holder: HOLDER });
  if (attempt === undefined || lease === null) throw new Error('nothing is planned');
  return { trade, userId, attempt, lease };
}

type Planned = Awaited<ReturnType<typeof planned>>;

const submit = ({ trade, attempt, lease }: Planned, text = 'submitting'): Transition => ({
  lease,
  order: trade,
  attempt: { id: attempt.id, seen: 'planned', set: { state: 'submitting' } },
  events: [{ tradeId: trade.id, at: engine.clock.now(), kind: 'timeline', text }],
});

const stateOf = async ({ trade }: Planned) => (await engine.attempts(trade.id))[0]?.state;
const said = async ({ trade }: Planned, text: string) =>
  (await engine.events(trade.id)).timeline.filter((line) => line === text).length;

/** The transitions of an instance, and the number of its transactions. */
function counting() {
  const state = { transactions: 0 };
  const db = withTransaction(engine.db, (work, config) => {
    state.transactions += 1;
    return engine.db.transaction(work, config);
  });
  return { state, transitions: engine.depsWith({ db }).transitions };
}

/** Transitions that are ready at the same time, behind one that is being committed. */
async function commitTogether(all: Transition[]) {
  const { state, transitions } = counting();
  const alone = transitions.commit(submit(lead));
  const results = await Promise.allSettled(all.map((one) => transitions.commit(one)));
  await alone;
  return { results, transactions: state.transactions - 1 };
}

async function several(): Promise<Planned[]> {
  const all: Planned[] = [];
  for (let count = 0; count < 4; count += 1) all.push(await planned());
  return all;
}

test('commits the transitions of many trades in one transaction', async () => {
  const trades = await several();
  const { results, transactions } = await commitTogether(trades.map((one) => submit(one)));
  expect(transactions).toBe(1);
  for (const result of results) expect(result).toMatchObject({ value: { ok: true } });
  for (const one of trades)
    expect([await stateOf(one), await said(one, 'submitting')]).toEqual(['submitting', 1]);
});

describe('one of them fails by itself', () => {
  const rest = (trades: Planned[]) => Promise.all(trades.slice(1).map(stateOf));
  const SUBMITTED = Array(3).fill('submitting');

  test('whose lease was taken over', async () => {
    const trades = await several();
    const [lost] = trades;
    if (lost === undefined) throw new Error('no trade');
    const stolen: Lease = { ...lost.lease, version: lost.lease.version - 1 };
    const { results, transactions } = await commitTogether(
      trades.map((one) => submit(one === lost ? { ...one, lease: stolen } : one)),
    );
    expect(results[0]).toMatchObject({ status: 'rejected', reason: expect.any(LeaseLostError) });
    expect([await stateOf(lost), await said(lost, 'submitting')]).toEqual(['planned', 0]);
    expect(await rest(trades)).toEqual(SUBMITTED);
    expect(transactions).toBe(1);
  });

  // Requirements: accounts-states-8
  test('whose user was switched off', async () => {
    const trades = await several();
    const [off] = trades;
    if (off === undefined) throw new Error('no trade');
    await engine.db
      .update(userSettings)
      .set({ activeTrading: false })
      .where(eq(userSettings.userId, off.userId));
    const { results, transactions } = await commitTogether(trades.map((one) => submit(one)));
    expect(results[0]).toMatchObject({ value: { reason: 'denied', denial: { code: 'active_trading_off' } } });
    expect([await stateOf(off), await said(off, 'submitting')]).toEqual(['planned', 0]);
    expect(await rest(trades)).toEqual(SUBMITTED);
    expect(transactions).toBe(1);
  });

  testEveryCase('whose attempt is in another state than its worker saw', async () => {
    const trades = await several();
    const [moved] = trades;
    if (moved === undefined) throw new Error('no trade');
    await engine.db
      .update(orderAttempts)
      .set({ state: 'open' })
      .where(eq(orderAttempts.id, moved.attempt.id));
    const { results } = await commitTogether(trades.map((one) => submit(one)));
    expect(results[0]).toMatchObject({ status: 'rejected', reason: expect.any(LeaseLostError) });
    expect([await stateOf(moved), await said(moved, 'submitting')]).toEqual(['open', 0]);
    expect(await rest(trades)).toEqual(SUBMITTED);
  });

  testEveryCase('whose text the database does not take', async () => {
    const trades = await several();
    const { results } = await commitTogether(
      trades.map((one, index) => submit(one, index === 0 ? 'a null \u0000 byte' : 'submitting')),
    );
    expect(results[0]).toMatchObject({ status: 'rejected' });
    expect(await Promise.all(trades.map(stateOf))).toEqual(['planned', ...SUBMITTED]);
  });

  testEveryCase('whose row is locked for long', async () => {
    const trades = await several();
    const [slow] = trades;
    if (slow === undefined) throw new Error('no trade');
    const held = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = engine.db.transaction(async (tx) => {
      await tx.select({ id: users.id }).from(users).where(eq(users.id, slow.userId)).for('update');
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const committing = commitTogether(trades.map((one) => submit(one)));
    await expect.poll(() => rest(trades), { timeout: 8_000 }).toEqual(SUBMITTED);
    expect(await stateOf(slow)).toBe('planned');
    held.resolve();
    await holding;
    await committing;
    expect(await stateOf(slow)).toBe('submitting');
  });
});

test('writes nothing of a transition whose instance handed its leases over', async () => {
  const one = await planned();
  await handOverLeases(engine.db, HOLDER);
  await expect(engine.deps.transitions.commit(submit(one))).rejects.toThrow(LeaseLostError);
  expect(await stateOf(one)).toBe('planned');
});

test('writes events of a trade in the order of its transitions', async () => {
  const one = await planned();
  const { trade, lease } = one;
  const texts = ['first', 'second', 'third'];
  for (const text of texts) {
    await engine.deps.transitions.commit({
      lease,
      events: [{ tradeId: trade.id, at: engine.clock.now(), kind: 'timeline', text }],
    });
  }
  const rows = await engine.db
    .select({ text: tradeEvents.text })
    .from(tradeEvents)
    .where(inArray(tradeEvents.text, texts))
    .orderBy(sql`id`);
  expect(rows.map(({ text }) => text)).toEqual(texts);
});
