import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import type { TradingStopView } from '#contract/trading-stops.ts';
import { oneOfEachKind } from '#test/app/in-turn.ts';
import { untilQueueIsEmpty } from '#test/app/unfinished-jobs.ts';
import { ALL_WORKERS, type ExchangeWorld, startWorld } from '#test/world.ts';

/** Two programs on one database, real requests, and an exchange whose ledger says what arrived and when. */
const USERS = 14;
let board: ExchangeWorld;
const traders: { id: string }[] = [];
beforeAll(async () => {
  board = await startWorld({
    exchange: 'paper',
    engine: true,
    mostWorkers: inject('everyCase') ? ALL_WORKERS : 4,
    instances: 2,
    tokens: ['FANONE', 'FANTWO', 'FANTHREE'],
    config: { verifyFirstMs: 20_000, verifySecondMs: 20_000 },
  });
  for (let user = 0; user < USERS; user += 1) traders.push(await board.createTrader());
});
afterAll(() => board.close());

const ACCOUNT = '/api/v2/mix/account/account';
/** Users who are not sized before the stop, however fast or slow the machine is. */
const LATE = 4;

const isEntry = ({ path }: { path: string }) => path.endsWith('/place-order');
const entries = async () => {
  const orders = await Promise.all(traders.map(({ id }) => board.site.exchangeOrders(id)));
  return orders.flat().filter(({ reduceOnly }) => !reduceOnly);
};

// Requirements: additions-stops-1, additions-stops-4
test.each(
  oneOfEachKind<[string, string, (token: string) => object]>(
    [
      ['everybody', 'FANONE', () => ({ kind: 'all' })],
      ['its strategy', 'FANTWO', () => ({ kind: 'strategy', value: 'Tesla' })],
      ['its token', 'FANTHREE', (token) => ({ kind: 'token', value: token })],
    ],
    ([name]) => name === 'its token',
  ),
)(
  'a stop for %s in the middle of a fan-out: nothing reaches the exchange after its answer, and what rests is cancelled',
  async (_name, token, scopeOf) => {
    // Requests stay on the wire for a while, and no order fills at once.
    board.site.setFaults([
      { kind: 'delay', delayMs: 60, on: { operation: 'place-order', times: Number.POSITIVE_INFINITY } },
      { kind: 'restFirst', on: { times: Number.POSITIVE_INFINITY } },
    ]);
    const earlier = (await entries()).length;
    const from = board.site.requests.length;
    const releases = traders.slice(-LATE).map(({ id }) => board.site.hold(id, ACCOUNT));
    const signalId = await board.signal({ token, price: '100' });
    await expect
      .poll(() => board.site.requests.slice(from).filter(isEntry).length, { interval: 2, timeout: 60_000 })
      .toBeGreaterThan(2);
    const other = await board.adminAt(1);
    const answer = await other.post('/api/trading-stops', { scope: scopeOf(token), reason: 'news' });
    expect(answer.statusCode, answer.body).toBe(201);
    onTestFinished(async () => {
      const { id } = answer.json<TradingStopView>();
      expect((await board.admin.delete(`/api/trading-stops/${id}`)).statusCode).toBe(204);
    });
    const sent = board.site.requests.slice(from).filter(isEntry).length;
    const inLedger = (await entries()).length - earlier;
    expect(sent).toBeLessThanOrEqual(USERS - LATE);
    // What was sent has arrived: nothing is on the wire when the answer comes.
    expect(inLedger).toBe(sent);
    for (const release of releases) release();

    await expect
      .poll(async () => (await entries()).filter(({ state }) => state === 'live').length, { timeout: 30_000 })
      .toBe(0);
    await board.traded(signalId);
    await untilQueueIsEmpty(board.db);
    expect(board.site.requests.slice(from).filter(isEntry)).toHaveLength(sent);
    expect((await entries()).length - earlier).toBe(sent);
  },
  120_000,
);
