import { and, eq, inArray } from 'drizzle-orm';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { trades, workflows } from '#server/platform/db/schema.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { createSender } from '#test/app/test-sender.ts';
import { ALL_WORKERS, type ExchangeWorld, startWorld } from '#test/world.ts';

// Two instances on one database. The exchange does not answer one user's orders until the test lets it.

/** Beyond fifty unfinished ones a signal of one owner fails (`own-signals.test.ts`). */
const OWN = inject('everyCase') ? { signals: 54, failing: 4 } : { signals: 10, failing: 0 };
const OWN_TOKENS = Array.from({ length: OWN.signals }, (_, index) => `OWN${index + 1}`);
const TOKENS = Array.from({ length: 16 }, (_, index) => `ALL${index + 1}`);
const PLACE_ORDER = '/api/v2/mix/order/place-order';
const soon = { timeout: 45_000, interval: 50 };

let board: ExchangeWorld;
beforeAll(async () => {
  const config = { exchangeTimeoutMs: 120_000, webhookRateLimit: 0 };
  board = await startWorld({
    exchange: 'paper',
    engine: true,
    mostWorkers: inject('everyCase') ? ALL_WORKERS : 4,
    instances: 2,
    tokens: [...OWN_TOKENS, ...TOKENS],
    config,
  });
});
afterAll(() => board.close());

type Trader = Awaited<ReturnType<ExchangeWorld['createTrader']>>;

/** Sends a trader's own signals; returns their ids. */
async function sendOwn({ client }: Trader, processor: string, tokens: readonly string[]): Promise<string[]> {
  const sender = await createSender({ app: board.app, client });
  const answers = await Promise.all(
    tokens.map((token) => sender.signal({ symbol: `${token}USDT`, price: '100', processor })),
  );
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  return answers.map((answer) => answer.json<{ id: string }>().id);
}

const workflowsOf = (signalIds: readonly string[]) =>
  board.db
    .select()
    .from(workflows)
    .where(inArray(workflows.signalId, [...signalIds]));

const ordersOf = ({ id }: Trader) =>
  board.site.requests.filter(({ userId, path }) => userId === id && path === PLACE_ORDER).length;

// Requirements: workflows-13, workflows-14
test("one user's burst at a slow account takes two places, and the signals of all others go on", {
  timeout: 170_000,
}, async () => {
  // Of another processor than the signals for everybody, so that those end without this user.
  const slow = await board.createTrader({ signalProcessor: 'UD Bot' });
  const [other, another] = [await board.createTrader(), await board.createTrader()];
  const release = board.site.hold(slow.id, PLACE_ORDER);
  try {
    const own = await sendOwn(slow, 'UD Bot', OWN_TOKENS);
    await expect.poll(() => ordersOf(slow), soon).toBeGreaterThanOrEqual(2);
    const forAll = await Promise.all(
      TOKENS.slice(0, 3).map((token) => board.signal({ token, price: '100' })),
    );
    const [ofOther = ''] = await sendOwn(other, 'Tesla', TOKENS.slice(3, 4));
    for (const id of [...forAll, ofOther]) {
      const made = await board.traded(id);
      expect(made.map(({ success }) => success)).toEqual(id === ofOther ? [true] : [true, true]);
      expect(made.map(({ userId }) => userId)).toEqual(
        expect.arrayContaining(id === ofOther ? [other.id] : [other.id, another.id]),
      );
    }
    await expect
      .poll(async () => (await workflowsOf(own)).filter(({ status }) => status === 'failed').length, soon)
      .toBe(OWN.failing);
    // Two have been at work all the time, no third one has begun, and none was lost.
    expect(ordersOf(slow)).toBe(2);
    const { rows } = await board.db.$client.query<{ count: number }>(
      `select count(*)::int as count from workflow_users join workflows on workflows.id = workflow_id
       where user_id = $1 and position is not null and signal_id = any($2)`,
      [slow.id, own],
    );
    expect(rows).toEqual([{ count: 2 }]);
    const unfinished = (await workflowsOf(own)).filter(({ completedAt }) => completedAt === null);
    expect(unfinished).toHaveLength(OWN.signals - OWN.failing);
  } finally {
    release();
  }
});

// Requirements: workflows-14
testEveryCase(
  'one slow account keeps no signal for everybody from the other users',
  async () => {
    const slow = await board.createTrader();
    await board.admin.put(`/api/admin/user-settings/${slow.id}`, { tradeOrderSet: 'A' });
    const other = await board.createTrader();
    const release = board.site.hold(slow.id, PLACE_ORDER);
    try {
      const tokens = TOKENS.slice(-12).concat('BTC', 'ETH');
      const ids = await Promise.all(tokens.map((token) => board.signal({ token, price: '100' })));
      await expect
        .poll(async () => {
          const made = await board.db
            .select()
            .from(trades)
            .where(and(inArray(trades.signalId, ids), eq(trades.userId, other.id)));
          return made.filter(({ success }) => success).length;
        }, soon)
        .toBe(ids.length);
      expect((await workflowsOf(ids)).filter(({ completedAt }) => completedAt !== null)).toEqual([]);
    } finally {
      release();
    }
  },
  120_000,
);
