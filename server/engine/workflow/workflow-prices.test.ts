import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { ExchangeError } from '#server/exchanges/exchange.ts';
import { decisions } from '#server/platform/db/schema.ts';
import { planUser } from '#test/app/plan-user.ts';
import { sharedTestEngine } from '#test/app/shared-test-engine.ts';
import { nextToken } from '#test/app/token-holders.ts';
import { answering } from '#test/venues/dying-exchange.ts';
import { runWorkflow } from './run-workflow.ts';
import { createWorkflowPrices } from './workflow-prices.ts';

const engine = sharedTestEngine({ settles: false });

/** A workflow, instances that price it, and an exchange that counts how often it is asked. */
async function priced() {
  const token = nextToken();
  const { workflowId } = await engine.storeSignal({ token, price: '100' });
  const exchange = engine.deps.exchanges.get('Bitget');
  const answers: (string | Error)[] = [];
  let asked = 0;
  let passedMs = 0;
  const counting = {
    ...exchange,
    async fetchTicker() {
      const price = answers[Math.min(asked, answers.length - 1)] ?? '100';
      asked += 1;
      if (price instanceof Error) throw price;
      return { token, lastPrice: price, markPrice: price, at: engine.clock.now() };
    },
  };
  const clock = { ...engine.clock, monotonicMs: () => engine.clock.monotonicMs() + passedMs };
  const instance = () => {
    const prices = createWorkflowPrices({ db: engine.db, clock });
    const of = { workflowId, signal: { token, fromAdmin: true, ownerUserId: workflowId }, userId: null };
    return { read: async () => await prices.read(of, counting) };
  };
  const age = (seconds: number) =>
    engine.db.$client.query(
      'update workflow_prices set read_at = read_at - make_interval(secs => $1) where workflow_id = $2',
      [seconds, workflowId],
    );
  const pass = (ms: number) => {
    passedMs += ms;
  };
  return { instance, answers, asked: () => asked, age, pass };
}

test('one reading serves all users of a workflow in all instances', async () => {
  const { instance, asked } = await priced();
  const instances = [instance(), instance(), instance()];
  const read = await Promise.all(instances.flatMap((one) => [one.read(), one.read()]));
  expect(read.map(({ livePrice }) => livePrice)).toEqual(Array(6).fill('100'));
  expect(asked()).toBe(1);
});

test('a price older than a second is read again, by one instance', async () => {
  const { instance, answers, asked, age, pass } = await priced();
  answers.push('100', '101');
  const [one, another] = [instance(), instance()];
  await one.read();
  await age(2);
  const read = await Promise.all([another.read(), instance().read()]);
  expect(read.map(({ livePrice }) => livePrice)).toEqual(['101', '101']);
  expect(asked()).toBe(2);
  pass(1_001);
  expect((await one.read()).livePrice).toBe('101');
});

test('the price of another instance is as old as that instance knew', async () => {
  const { instance, age } = await priced();
  await instance().read();
  await age(0.5);
  const { readAtMs } = await instance().read();
  expect(engine.clock.monotonicMs() - readAtMs).toBeGreaterThanOrEqual(500);
});

test('there is no price only after a second reading, which says why', async () => {
  const { instance, answers, asked } = await priced();
  const away = new ExchangeError('refused', 'nothing to say');
  answers.push(away, '100');
  expect((await instance().read()).livePrice).toBe('100');
  expect(asked()).toBe(2);
  const silent = await priced();
  silent.answers.push(away);
  expect(await silent.instance().read()).toMatchObject({ livePrice: null, priceProblem: 'nothing to say' });
  expect(silent.asked()).toBe(2);
});

test('a position is computed from a price read again when the account came late, and the record says how old it was', async () => {
  const token = nextToken();
  const userId = await engine.createUser({ positionSizingMethod: 'Risk Management' });
  const { workflowId, signalId } = await engine.storeSignal({ token, price: '100' });
  let passedMs = 0;
  const clock = { ...engine.clock, monotonicMs: () => engine.clock.monotonicMs() + passedMs };
  let price = '100';
  const deps = answering(
    { ...engine.deps, clock, workflowPrices: createWorkflowPrices({ db: engine.db, clock }) },
    ({ readTradeAccount }) => ({
      fetchTicker: async () => ({ token, lastPrice: price, markPrice: price, at: engine.clock.now() }),
      async readTradeAccount(...request) {
        const read = await readTradeAccount(...request);
        passedMs += 3_000;
        await engine.db.$client.query("update workflow_prices set read_at = read_at - interval '3 s'");
        price = '100.5';
        return read;
      },
    }),
  );
  await runWorkflow(deps, workflowId);
  expect(await planUser(deps, { workflowId, userId })).not.toBeNull();
  const [decision] = await engine.db.select().from(decisions).where(eq(decisions.userId, userId));
  expect(decision?.record).toMatchObject({ ticker: '100.5', tickerAgeMs: expect.any(Number) });
  expect(decision?.record.tickerAgeMs).toBeLessThan(2_000);
  expect((await engine.trades(signalId)).map(({ userId: of }) => of)).toEqual([userId]);
});
