import { and, eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { ExchangePlatform } from '#domain/user-settings.ts';
import { collectConditions } from '#server/console/attention/attention.routes.ts';
import { tradingConditions } from '#server/console/attention/trading-conditions.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { paperTriggerOrders } from '#server/exchanges/paper/paper-schema.ts';
import { closedPositions } from '#server/platform/db/schema.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { firstCases, inTurn, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { sharedTestEngine, storeTradedSignal } from '#test/app/shared-test-engine.ts';
import { nextToken, oppositeSignal, reasonFor, withLong } from '#test/app/token-holders.ts';
import {
  accountModeOf,
  platformOf,
  SUITE_DIALECTS,
  type SuiteDialect,
} from '#test/venues/exchange-suite-words.ts';
import { closeOpenPosition } from './close-open-position.ts';

/** Contracts that open nothing any more while positions are held in them. */
const engine = sharedTestEngine({ config: { exchangeTimeoutMs: 1_000 } });

const CONTRACTS_AGE_MS = 3_600_001;

const CLOSED: [dialect: SuiteDialect, status: string, problem: string][] = [
  ['Bitget unified', 'limit_open', 'it only closes positions (limit_open)'],
  ['Bitget', 'limit_open', 'it only closes positions (limit_open)'],
  ['Bitget', 'maintain', 'it is under maintenance (maintain)'],
  ['Bitget', 'restrictedAPI', 'it does not trade through the API (restrictedAPI)'],
  ['Bitget', 'off', 'it is delisted (off)'],
  ['Bybit', 'Delivering', 'it is being delivered (Delivering)'],
  ['Bybit', 'Closed', 'it is delisted (Closed)'],
];

/** The exchange changes the contract, and the program reads the list again. */
function change(contract: {
  platform: ExchangePlatform;
  token: string;
  status?: string;
  endsAt?: Date;
  kind?: string;
}): void {
  engine.venue.setContracts([contract]);
  engine.clock.advance(CONTRACTS_AGE_MS);
}

async function loseStop(userId: string): Promise<void> {
  await engine.db
    .update(paperTriggerOrders)
    .set({ state: 'cancelled' })
    .where(and(eq(paperTriggerOrders.userId, userId), eq(paperTriggerOrders.planType, 'pos_loss')));
  const audit = createProtectionAudit(engine.deps);
  const key = { db: engine.db, key: 'protection:audit', holder: 'test' };
  await withLease(key, (lease) => audit.run(lease));
  await engine.settle();
}

const conditions = async (token: string) => {
  const { deps } = engine;
  const found = await collectConditions({
    sources: tradingConditions(deps),
    clock: deps.clock,
    log: deps.log,
  });
  return found.filter(({ code, text }) => code === 'contract_closed' && text.includes(` ${token} `));
};

/** What becomes of a position in such a contract. */
const ENDS: [
  string,
  (contract: { platform: ExchangePlatform; status: string; problem: string }) => Promise<void>,
][] = [
  [
    'keeps its position protected, and closes it by hand',
    async ({ platform, status, problem }) => {
      const { userId, token } = await withLong(engine, { exchangePlatform: platform });
      change({ platform, token, status });
      await loseStop(userId);
      expect(await engine.holding(userId, token, platform)).toMatchObject({
        stopLoss: '98',
        takeProfit: '104',
      });
      expect(await conditions(token)).toMatchObject([
        { severity: 'critical', text: expect.stringContaining(problem) },
      ]);
      const task = { userId, token, percent: 100, requestedBy: userId };
      expect(await closeOpenPosition(engine.deps, createAccountReader(engine.deps), task)).toMatchObject({
        success: true,
      });
      expect(await engine.holding(userId, token, platform)).toMatchObject({ position: null, stopLoss: null });
      expect(await conditions(token)).toEqual([]);
    },
  ],

  [
    'closes its position for an opposite signal, opens none, and says why',
    async ({ platform, status, problem }) => {
      const { userId, token } = await withLong(engine, { exchangePlatform: platform });
      change({ platform, token, status });
      await engine.storeCandle({ token, price: '100' });
      const { workflowId } = await oppositeSignal(engine, token);
      await engine.settle();
      expect(await engine.holding(userId, token, platform)).toMatchObject({ position: null });
      expect(await reasonFor(engine, { workflowId, userId })).toContain(
        `${token} opens no positions on ${platform}: ${problem}`,
      );
    },
  ],
];
/** The first of its dialect. */
const isOfItsDialect = (one: (typeof CLOSED)[number]) =>
  CLOSED.find(([dialect]) => dialect === one[0]) === one;
test.each(
  inTurn(oneOfEachKind(CLOSED, isOfItsDialect), ENDS).map(([[dialect, status, problem], [end, follows]]) => ({
    dialect,
    status,
    problem,
    end,
    follows,
  })),
)('a contract of $dialect that is $status $end', async ({ dialect, status, problem, follows }) => {
  engine.setAccountMode(accountModeOf(dialect));
  await follows({ platform: platformOf(dialect), status, problem });
});

const KINDS: [ExchangePlatform, string, string][] = [
  ['Bitget', 'YES', 'it is not on a coin (isRwa YES)'],
  ['Bybit', 'stock', 'it is not on a coin (stock)'],
  ['Bybit', 'forex', 'it is not on a coin (forex)'],
  ['Bybit', 'commodity', 'it is not on a coin (commodity)'],
  ['Bybit', 'a kind of tomorrow', 'it is not on a coin (a kind of tomorrow)'],
];
const TOLD_APART = ['a kind of tomorrow'];
describe.each(oneOfEachKind(KINDS, ([, kind]) => TOLD_APART.includes(kind)))(
  'a contract of %s whose kind is %s',
  (platform, kind, problem) => {
    test('opens nothing and says why, and closes what is held in it', async () => {
      const { userId, token } = await withLong(engine, { exchangePlatform: platform });
      change({ platform, token, kind });
      const late = await storeTradedSignal(engine, {
        settings: { exchangePlatform: platform },
        signal: { token, price: '100' },
      });
      await engine.settle();
      expect(await engine.exchangeOrders(late.userId)).toEqual([]);
      expect(await reasonFor(engine, late)).toContain(
        `${token} opens no positions on ${platform}: ${problem}`,
      );
      const task = { userId, token, percent: 100, requestedBy: userId };
      expect(await closeOpenPosition(engine.deps, createAccountReader(engine.deps), task)).toMatchObject({
        success: true,
      });
    });
  },
);

test.each(firstCases(['', 'innovation', 'adventure']))(
  'a contract of Bybit whose kind is "%s" is traded',
  async (kind) => {
    const token = nextToken();
    change({ platform: 'Bybit', token, kind });
    const { userId } = await storeTradedSignal(engine, {
      settings: { exchangePlatform: 'Bybit' },
      signal: { token, price: '100' },
    });
    await engine.settle();
    expect(await engine.holding(userId, token, 'Bybit')).toMatchObject({ position: { side: 'long' } });
  },
);

testEveryCase(
  'an execution of Bybit that is no fill leaves that token’s end unknown, and tells the others’',
  async () => {
    const exchangePlatform = 'Bybit';
    const userId = await engine.createUser({ positionSizingMethod: 'Risk Management', exchangePlatform });
    const [split, other] = [nextToken(), nextToken()];
    for (const token of [split, other]) await engine.storeSignal({ token, price: '100' });
    await engine.settle();
    engine.venue.setContracts([
      {
        platform: exchangePlatform,
        token: split,
        execution: { execType: 'CorporateAction', at: engine.clock.now() },
      },
    ]);
    engine.clock.advance(60_000);
    for (const token of [split, other]) await engine.storeCandle({ token, price: '97' });
    const audit = createProtectionAudit(engine.deps);
    const key = { db: engine.db, key: 'protection:audit', holder: 'test' };
    // Without a word of the history, only a second reading says that a position is gone.
    for (let reading = 0; reading < 2; reading += 1) {
      await withLease(key, (lease) => audit.run(lease));
      engine.clock.advance(5_000);
    }
    const ended = await engine.db.select().from(closedPositions).where(eq(closedPositions.userId, userId));
    expect(Object.fromEntries(ended.map(({ token, closedBy }) => [token, closedBy]))).toEqual({
      [split]: 'unknown',
      [other]: 'stop loss',
    });
  },
);

test.each(oneOfEachKind(SUITE_DIALECTS, (dialect) => dialect === 'Bybit'))(
  'a contract of %s with an end date opens nothing, and an open position in it needs attention',
  async (dialect) => {
    engine.setAccountMode(accountModeOf(dialect));
    const platform = platformOf(dialect);
    const { token } = await withLong(engine, { exchangePlatform: platform });
    change({ platform, token, endsAt: new Date('2026-06-01T08:00:00.000Z') });
    const text = 'it ends on 2026-06-01 08:00 UTC';
    expect(await conditions(token)).toMatchObject([{ text: expect.stringContaining(text) }]);
    const late = await storeTradedSignal(engine, {
      settings: { exchangePlatform: platform },
      signal: { token, price: '100' },
    });
    await engine.settle();
    expect(await engine.holding(late.userId, token, platform)).toMatchObject({ position: null });
    expect(await reasonFor(engine, late)).toContain(`${token} opens no positions on ${platform}: ${text}`);
  },
);
