import { expect, test } from 'vitest';
import { listTradeEvents } from '#server/engine/records/trades.store.ts';
import { acquireLease, handOverLeases, LeaseLostError } from '#server/platform/jobs/leases.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { dyingAt } from '#test/venues/dying-exchange.ts';
import { exchangeOf, record, type TradeWork } from './trade-work.ts';

const engine = sharedTestEngine();

/** An order whose request has just left, under its own lease. */
async function submitting(): Promise<TradeWork> {
  const { signalId, token } = await storeTradedSignal(engine);
  await expect(engine.settle({ deps: dyingAt(engine.deps, 'placeOrder', 'after') })).rejects.toThrow();
  const [trade] = await engine.trades(signalId);
  const attempts = trade === undefined ? [] : await engine.attempts(trade.id);
  const [attempt] = attempts;
  const lease = await acquireLease({ db: engine.db, key: `event:${token}`, holder: 'here' });
  if (trade === undefined || attempt === undefined || lease === null) throw new Error('there is no order');
  const { deps } = engine;
  const exchange = exchangeOf(deps, trade);
  return {
    deps,
    lease,
    trade,
    attempts,
    attempt,
    position: 0,
    exchange,
    account: null,
    calls: [],
    onCall: () => {},
  };
}

const accepted = { event: 'accepted', lines: ['it is there'], attempt: { orderId: '17' } } as const;

async function recorded({ trade }: TradeWork) {
  const [attempt] = await engine.attempts(trade.id);
  const events = await listTradeEvents(engine.db, trade.id);
  return { state: attempt?.state, orderId: attempt?.orderId, said: events.at(-1)?.text === 'it is there' };
}

test('changes the attempt, here and in the database, and adds a line to the timeline', async () => {
  const work = await submitting();
  expect(await recorded(work)).toEqual({ state: 'submitting', orderId: null, said: false });
  await record(work, accepted);
  expect(await recorded(work)).toEqual({ state: 'open', orderId: '17', said: true });
  expect(work.attempt).toEqual((await engine.attempts(work.trade.id))[0]);
});

test('records nothing after the lease was lost', async () => {
  const work = await submitting();
  await handOverLeases(engine.db, 'here');
  await expect(record(work, accepted)).rejects.toThrow(LeaseLostError);
  expect(await recorded(work)).toEqual({ state: 'submitting', orderId: null, said: false });
  expect(work.attempt.state).toBe('submitting');
});

test('does not record an event of an attempt that has moved on', async () => {
  const work = await submitting();
  const { deps, attempt, lease } = work;
  const seen = 'submitting' as const;
  await deps.transitions.commit({ lease, attempt: { id: attempt.id, seen, set: { state: 'open' } } });
  await expect(record(work, accepted)).rejects.toThrow(LeaseLostError);
  expect(await recorded(work)).toEqual({ state: 'open', orderId: null, said: false });
});

test('records calls with the next transition, each once, and leaves out what the database does not take', async () => {
  const work = await submitting();
  const before = (await engine.events(work.trade.id)).calls.length;
  const call = {
    type: 'place-order',
    method: 'POST',
    endpoint: '/order',
    timestamp: engine.clock.now().toISOString(),
    requestData: { size: '1' },
    responseData: {},
    success: true,
    status: 200,
    durationMs: 1,
  };
  work.calls.push(call);
  await record(work, accepted);
  expect(work.calls).toEqual([]);
  expect((await engine.events(work.trade.id)).calls).toHaveLength(before + 1);
  expect((await engine.attempts(work.trade.id))[0]?.orderPayload).toEqual({ size: '1' });
  work.calls.push({ ...call, type: 'find-order', responseData: { text: 'a null \u0000 byte' } });
  await record(work, { event: 'found_open', lines: ['read back'] });
  expect((await engine.events(work.trade.id)).timeline).toContain('read back');
  expect((await engine.events(work.trade.id)).calls).toHaveLength(before + 1);
});
