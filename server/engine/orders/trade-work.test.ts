import { expect, test } from 'vitest';
import { acquireLease, handOverLeases, LeaseLostError } from '#server/platform/jobs/leases.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { dyingAt } from '#test/venues/dying-exchange.ts';
import { exchangeOf, recordEvent, type TradeWork } from './trade-work.ts';
import { listTradeEvents } from './trades.store.ts';

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
  return { deps, lease, trade, attempts, attempt, exchange, account: null, onCall: () => {} };
}

const found = { text: 'it is there', changes: { orderId: '17' } };

async function recorded({ trade }: TradeWork) {
  const [attempt] = await engine.attempts(trade.id);
  const events = await listTradeEvents(engine.db, trade.id);
  return { state: attempt?.state, orderId: attempt?.orderId, said: events.at(-1)?.text === found.text };
}

test('changes the attempt and adds a line to the timeline for an event of an order', async () => {
  const work = await submitting();
  expect(await recorded(work)).toEqual({ state: 'submitting', orderId: null, said: false });
  await recordEvent(work, 'accepted', found);
  expect(await recorded(work)).toEqual({ state: 'open', orderId: '17', said: true });
});

test('records nothing after the lease was lost, with or without other writes', async () => {
  const work = await submitting();
  await handOverLeases(engine.db, 'here');
  await expect(recordEvent(work, 'accepted', found)).rejects.toThrow(LeaseLostError);
  const along = { ...found, alongside: async () => {} };
  await expect(recordEvent(work, 'accepted', along)).rejects.toThrow(LeaseLostError);
  expect(await recorded(work)).toEqual({ state: 'submitting', orderId: null, said: false });
});

test('does not record an event of an attempt that has moved on', async () => {
  const work = await submitting();
  await recordEvent(work, 'accepted', { text: 'first' });
  await expect(recordEvent(work, 'accepted', found)).rejects.toThrow(LeaseLostError);
  expect(await recorded(work)).toEqual({ state: 'open', orderId: null, said: false });
});
