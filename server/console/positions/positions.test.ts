import { randomUUID } from 'node:crypto';
import { eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { ClosedPositionsAnswer, PositionsAnswer } from '#contract/positions.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { createProtectionAudit } from '#server/engine/protection/audit-protection.ts';
import {
  findOpenTrade,
  recordClosedPosition,
  recordGone,
} from '#server/engine/protection/positions.store.ts';
import { createAccountReader } from '#server/engine/protection/read-account.ts';
import { goneRow } from '#server/engine/protection/record-closings.ts';
import type { Exchange, ExchangeAccount } from '#server/exchanges/exchange.ts';
import { closedPositions, trades, tradingHalts, users } from '#server/platform/db/schema.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { withLease } from '#server/platform/jobs/leases.ts';
import { testClock } from '#test/app/fake-clock.ts';
import { firstCases, oneOfEachKind, testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { countWaitingForLocks } from '#test/app/waiting-for-locks.ts';
import { type ExchangeWorld, startWorld } from '#test/world.ts';
import { listPositions } from './list-positions.ts';

let tokens = 0;

const board = await startWorld({
  exchange: 'paper',
  engine: true,
  instances: 2,
  config: { verifyFirstMs: 50 },
  tokens: ['DOGE', ...Array.from({ length: 40 }, (_, index) => `T${index + 1}`)],
});
const exchange = board.deps.exchanges.get('Bitget');
afterEach(async () => {
  board.site.setFaults([]);
  board.site.setReachable(true);
  await board.db.update(users).set({ isActive: false }).where(eq(users.isAdmin, false));
});
afterAll(() => board.close());

async function accountOf(userId: string): Promise<ExchangeAccount> {
  const account = await board.deps.findAccount(userId, 'Bitget');
  if (!account) throw new Error('no account');
  return account;
}

/** Bypasses the cache, which keeps a reading for two seconds. */
async function positions(filter: { userId?: string; token?: string; limit?: number } = {}) {
  if (filter.userId) await readAnew(filter.userId);
  const query = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)]));
  const answer = await board.admin.get(`/api/positions?${query}`);
  expect(answer.statusCode).toBe(200);
  return answer.json<PositionsAnswer>();
}

/** Asking to close a token without a position forces a new reading. */
const readAnew = (userId: string) => board.admin.post('/api/positions/close', { userId, token: 'XRP' });

/** A trader with a filled position, opened here, in its own token. */
function withPosition(options?: Parameters<ExchangeWorld['openPosition']>[1]) {
  tokens += 1;
  return board.openPosition(`T${tokens}`, options);
}

const inTime = () => ({ notAfter: new Date(Date.now() + 60_000) });
const newId = () => timeOrderedId().replaceAll('-', '');

describe('an open position', () => {
  // Requirements: additions-order-and-positions-5
  test('is shown as the exchange reports it, with the trade that opened it', async () => {
    const { id, username, token, trade } = await withPosition();
    await board.site.push(token, '101');
    const { open, totals, perUser, perToken, unreachable } = await positions({ userId: id });
    const quantity = toPlain(trade.filledQuantity);
    expect(open).toEqual([
      {
        userId: id,
        username,
        exchangePlatform: 'Bitget',
        token,
        side: 'long',
        quantity,
        entryPrice: '100',
        markPrice: '101',
        leverage: 5,
        margin: toPlain(D(quantity).times(100).div(5)),
        unrealisedProfit: quantity,
        liquidationPrice: expect.any(String),
        openedAt: expect.any(String),
        stopLoss: '98',
        takeProfit: '104',
        tradeId: trade.id,
        processor: 'Tesla',
        signalId: trade.signalId,
        timeframe: '15',
        differences: [],
      },
    ]);
    const sums = { openCount: 1, unrealisedProfit: quantity, realisedProfit: '0', fees: '0' };
    expect(totals).toMatchObject(sums);
    expect(perUser).toMatchObject([{ userId: id, username, ...sums }]);
    expect(perToken).toMatchObject([{ token, ...sums }]);
    expect(unreachable).toEqual([]);
    await board.db.update(users).set({ isActive: false }).where(eq(users.id, id));
    expect((await positions({ userId: id })).open, 'of an inactive user').toMatchObject([{ token }]);
  });

  test.each(
    firstCases(
      [
        [
          'of another quantity',
          async (account: ExchangeAccount, token: string, quantity: string) => {
            const part = toPlain(D(quantity).div(2).toDecimalPlaces(3));
            await exchange.closePosition(
              account,
              { token, side: 'long', quantity: part, clientOrderId: newId() },
              inTime(),
            );
            return [
              `The exchange holds ${toPlain(D(quantity).minus(part))}, ${quantity} was bought or sold here`,
            ];
          },
        ],
        [
          'without stop and target',
          async (account: ExchangeAccount, token: string) => {
            await exchange.cancelProtection(account, token);
            return [
              'The exchange has no stop loss, 98 was set here',
              'The exchange has no take profit, 104 was set here',
            ];
          },
        ],
        [
          'with another stop',
          async (account: ExchangeAccount, token: string, quantity: string) => {
            await exchange.placeProtection(
              account,
              { token, side: 'long', quantity, stopLoss: '95', takeProfit: null, clientOrderId: newId() },
              inTime(),
            );
            return ["The exchange's stop loss is 95, 98 was set here"];
          },
        ],
        [
          'with another leverage',
          async (account: ExchangeAccount, token: string) => {
            await exchange.prepareAccount(account, { token, leverage: 8 });
            return ["The exchange's leverage is 8, 5 was set here"];
          },
        ],
      ],
      2,
    ),
  )('reports a difference: %s', async (_name, change) => {
    const { id, token, trade } = await withPosition();
    const expected = await change(await accountOf(id), token, toPlain(trade.filledQuantity));
    expect((await positions({ userId: id })).open[0]?.differences).toEqual(expected);
  });

  // Requirements: additions-order-and-positions-8
  test('is marked when it was not opened here', async () => {
    const trader = await board.createTrader();
    const account = await accountOf(trader.id);
    await board.site.push('DOGE', '100');
    await exchange.prepareAccount(account, { token: 'DOGE', leverage: 5 });
    const order = {
      token: 'DOGE',
      side: 'sell' as const,
      clientOrderId: newId(),
      price: '99',
      quantity: '1',
    };
    await exchange.placeOrder(
      account,
      { ...order, leverage: 5, stopLoss: '150', takeProfit: '50' },
      inTime(),
    );
    expect((await positions({ userId: trader.id })).open).toMatchObject([
      { token: 'DOGE', side: 'short', tradeId: null, differences: ['Not opened here'] },
    ]);
  });
});

describe('a closed position', () => {
  test('after a stop has its profit and fees as calculated by hand, and stays after the exchange has forgotten it', async () => {
    const { id, username, token, trade } = await withPosition();
    await board.site.push(token, '97');
    const told = await positions({ userId: id });
    const quantity = D(trade.filledQuantity);
    // Bought at 100 and sold at 97: 3 lost per unit, and 0.06% fees on both values.
    const realisedProfit = toPlain(quantity.times(-3));
    const fees = toPlain(quantity.times(100 + 97).times('0.0006'));
    expect(told.open).toEqual([]);
    expect(told.closed).toEqual([
      {
        tradeId: trade.id,
        userId: id,
        username,
        exchangePlatform: 'Bitget',
        token,
        side: 'long',
        quantity: toPlain(quantity),
        entryPrice: '100',
        stopLoss: '98',
        takeProfit: '104',
        closePrice: '97',
        realisedProfit,
        fees,
        closedBy: 'stop loss',
        openedAt: expect.any(String),
        closedAt: expect.any(String),
        differences: [],
      },
    ]);
    expect(told.closedCount).toBe(1);
    expect(told.totals).toMatchObject({ openCount: 0, margin: '0', realisedProfit, fees });
    expect(told.cumulativeProfit.map(({ profit }) => toPlain(profit))).toEqual([
      toPlain(D(realisedProfit).minus(fees)),
    ]);
    board.site.setFaults([{ kind: 'html200', on: { path: 'history-position', times: 1_000 } }]);
    const before = board.site.requests.length;
    expect((await positions({ userId: id })).closed).toEqual(told.closed);
    const asked = board.site.requests.slice(before).filter(({ userId }) => userId === id);
    expect(asked.map(({ path }) => path)).not.toContain('/api/v2/mix/position/history-position');
  });

  testEveryCase('of a short that reached its target has a profit', async () => {
    const { id, token, trade } = await withPosition({ action: 'sell' });
    await board.site.push(token, '95');
    expect((await positions({ userId: id })).closed).toMatchObject([
      {
        side: 'short',
        closePrice: '95',
        closedBy: 'take profit',
        realisedProfit: toPlain(D(trade.filledQuantity).times(5)),
      },
    ]);
  });

  testEveryCase('after a reversal is shown next to the new position', async () => {
    const { id, token } = await withPosition();
    await board.db.update(users).set({ isActive: true }).where(eq(users.id, id));
    await board.traded(await board.signal({ token, action: 'sell', price: '100' }));
    const told = await positions({ userId: id });
    expect(told.closed).toMatchObject([{ side: 'long', closedBy: 'reversal', realisedProfit: '0' }]);
    expect(told.open).toMatchObject([{ side: 'short', differences: [] }]);
  });

  testEveryCase(
    'is attributed to a liquidation, or to an unknown reason when the user closed it',
    async () => {
      const lost = await withPosition();
      await exchange.cancelProtection(await accountOf(lost.id), lost.token);
      await board.site.push(lost.token, '10');
      expect((await positions({ userId: lost.id })).closed).toMatchObject([{ closedBy: 'liquidation' }]);
      const { id, token, trade } = await withPosition();
      await exchange.closePosition(
        await accountOf(id),
        { token, side: 'long', quantity: toPlain(trade.filledQuantity), clientOrderId: newId() },
        inTime(),
      );
      expect((await positions({ userId: id })).closed).toMatchObject([{ closedBy: 'unknown' }]);
    },
  );

  testEveryCase(
    'is reported as gone before the exchange gives details, and its profit follows later',
    async () => {
      const { id, token, trade } = await withPosition();
      board.site.setFaults([{ kind: 'empty200', on: { path: 'history-position', times: 1_000 } }]);
      await board.site.push(token, '97');
      // Past the time that an exchange may take to show a position that was just filled.
      await board.db
        .update(trades)
        .set({ completedAt: new Date(Date.now() - 6_000) })
        .where(eq(trades.id, trade.id));
      // One reading alone may have missed it.
      await expect
        .poll(async () => (await positions({ userId: id })).closed.length, { timeout: 10_000 })
        .toBe(1);
      const gone = await positions({ userId: id });
      expect(gone.open).toEqual([]);
      expect(gone.closed).toMatchObject([
        {
          tradeId: trade.id,
          closePrice: null,
          realisedProfit: null,
          fees: null,
          closedBy: 'unknown',
          differences: [
            'Recorded as open here, but gone at the exchange, which has not told how it was closed',
          ],
        },
      ]);
      expect(gone.cumulativeProfit).toEqual([]);
      expect((await positions({ userId: id })).closed).toEqual(gone.closed);
      board.site.setFaults([]);
      expect((await positions({ userId: id })).closed).toMatchObject([
        { tradeId: trade.id, closePrice: '97', closedBy: 'stop loss', differences: [] },
      ]);
    },
  );

  testEveryCase('is open again when the exchange had only failed to show it for a moment', async () => {
    const { id, trade } = await withPosition();
    await board.db.insert(closedPositions).values({
      id: timeOrderedId(),
      tradeId: trade.id,
      userId: id,
      exchangePlatform: 'Bitget',
      token: trade.token,
      side: 'long',
      quantity: '1',
      entryPrice: '100',
      closedBy: 'unknown',
      openedAt: new Date(),
      closedAt: new Date(),
      recordedAt: new Date(),
    });
    const told = await positions({ userId: id });
    expect(told.open).toMatchObject([{ tradeId: trade.id, differences: [] }]);
    expect(told.closed).toEqual([]);
  });

  testEveryCase('is recorded once by the audits of several instances', async () => {
    const { id, token } = await withPosition();
    await board.site.push(token, '97');
    const auditOnce = ({ deps }: (typeof board.programs)[number]) => {
      const lease = { db: deps.db, key: `audit ${randomUUID()}`, holder: 'test' };
      return withLease(lease, (held) => createProtectionAudit(deps).run(held));
    };
    await Promise.all(board.programs.flatMap((program) => [auditOnce(program), auditOnce(program)]));
    const rows = await board.db.select().from(closedPositions).where(eq(closedPositions.userId, id));
    expect(rows).toMatchObject([{ closedBy: 'stop loss' }]);
    const [trade] = await board.db.select().from(trades).where(eq(trades.userId, id));
    expect(trade?.positionClosedAt).toEqual(rows[0]?.closedAt);
  });

  test.each(firstCases(['after', 'while']))(
    'stays one row when a late reading takes it for gone %s its end is recorded',
    async (when) => {
      const { id, token, trade } = await withPosition();
      await board.site.push(token, '97');
      const [told] = await exchange.fetchClosedPositions(await accountOf(id), { since: new Date(0) });
      const found = await findOpenTrade(board.db, trade.id);
      if (told === undefined || found === null) throw new Error('the position is not closed');
      const key = { userId: id, exchangePlatform: 'Bitget' };
      const gone = goneRow(board.deps, { key, trade: found, since: new Date() });
      const closed = { ...gone, ...told, id: timeOrderedId(), exchangePositionId: told.positionId };
      if (when === 'after') {
        await recordClosedPosition(board.db, closed);
        await recordGone(board.db, gone);
      } else {
        let recorded = Promise.resolve();
        await board.db.transaction(async (tx) => {
          await recordGone(tx, gone);
          recorded = recordClosedPosition(board.db, closed);
          await expect.poll(() => countWaitingForLocks(board.db)).toBe(1);
        });
        await recorded;
      }
      const rows = await board.db.select().from(closedPositions).where(eq(closedPositions.userId, id));
      expect(rows).toMatchObject([{ exchangePositionId: told.positionId }]);
    },
  );

  testEveryCase('belongs to its own trade when one follows another closely', async () => {
    const { id, token } = await withPosition();
    await board.site.push(token, '97');
    await board.db.update(users).set({ isActive: true }).where(eq(users.id, id));
    await board.site.push(token, '100');
    const [second] = await board.traded(await board.signal({ token, price: '100.1' }));
    expect(second?.success).toBe(true);
    await board.site.push(token, '105');
    const told = await positions({ userId: id });
    expect(told.closed).toMatchObject([
      { tradeId: second?.id, closedBy: 'take profit' },
      { closedBy: 'stop loss' },
    ]);
    expect(told.cumulativeProfit).toHaveLength(2);
    const net = told.closed.map(({ realisedProfit, fees }) => D(realisedProfit ?? 0).minus(fees ?? 0));
    expect(toPlain(told.cumulativeProfit[1]?.profit ?? '0')).toBe(toPlain(net[0]?.plus(net[1] ?? 0) ?? 0));
  });
});

describe('a position that is not in the connected account', () => {
  // Requirements: additions-order-and-positions-9
  test.each(
    firstCases([
      [
        'of another mode',
        { exchangeMode: 'live' },
        'The position belongs to live mode, and the program runs in paper mode',
      ],
      [
        'of another account',
        { exchangeAccountId: '4711' },
        'The position is in account 4711, and the connected API key belongs to an account that is not known',
      ],
    ]),
  )('cannot be read because it is %s, and does not count as closed', async (_name, other, why) => {
    const { id, username, token, trade } = await withPosition();
    const set = (fields: Partial<typeof trade>) =>
      board.db.update(trades).set(fields).where(eq(trades.id, trade.id));
    await set(other);
    // The position that the account shows was not opened here.
    expect((await positions({ userId: id })).open).toMatchObject([{ tradeId: null }]);
    await board.site.push(token, '97');
    const told = await positions({ userId: id });
    expect(told).toMatchObject({ open: [], closed: [] });
    const hidden = { tradeId: trade.id, exchangePlatform: 'Bitget', token, side: 'long' };
    expect(told.unreachable).toMatchObject([
      { userId: id, username, message: `${token}: ${why}`, hidden: [hidden] },
    ]);
    const closing = await board.admin.post('/api/positions/close', { userId: id, token });
    expect(closing.json()).toEqual({ success: false, message: `Not closed. ${token}: ${why}` });

    await set({ exchangeMode: trade.exchangeMode, exchangeAccountId: trade.exchangeAccountId });
    const then = await positions({ userId: id });
    expect(then.closed).toMatchObject([{ tradeId: trade.id, closedBy: 'stop loss' }]);
    expect(then.unreachable).toEqual([]);
  });
});

// Requirements: additions-order-and-positions-10
test('a demo position is neither missed nor counted as closed in paper mode', async () => {
  const { id, token, trade } = await withPosition();
  await board.db.update(trades).set({ exchangeMode: 'demo' }).where(eq(trades.id, trade.id));
  await board.site.push(token, '97');
  expect(await positions({ userId: id })).toMatchObject({ open: [], closed: [], unreachable: [] });
  await board.db.update(trades).set({ exchangeMode: 'paper' }).where(eq(trades.id, trade.id));
  expect((await positions({ userId: id })).closed).toMatchObject([{ tradeId: trade.id }]);
});

describe('a position that no connected account can show', () => {
  const writeOff = (tradeId: string) => board.admin.post('/api/positions/write-off', { tradeId });

  // Requirements: additions-order-and-positions-12
  test('can be written off by an administrator, and then counts as ended', async () => {
    const { id, token, trade } = await withPosition();
    await board.db.update(trades).set({ exchangeAccountId: '4711' }).where(eq(trades.id, trade.id));
    await board.db.insert(tradingHalts).values({
      id: timeOrderedId(),
      userId: id,
      exchangePlatform: 'Bitget',
      token,
      tradeId: trade.id,
      kind: 'unprotected',
      reason: 'A test',
      since: new Date(),
    });
    expectAnswer(await writeOff(trade.id), 200, `The position in ${token} counts as ended`);
    const told = await positions({ userId: id });
    expect(told).toMatchObject({
      unreachable: [],
      closed: [
        {
          tradeId: trade.id,
          closedBy: 'unknown',
          closePrice: null,
          realisedProfit: null,
          differences: ['Written off: no connected account could show whether it was closed'],
        },
      ],
    });
    const { user } = (await board.admin.get('/api/auth/user')).json<{ user: { id: string } }>();
    const [row] = await board.db.select().from(trades).where(eq(trades.id, trade.id));
    expect(row).toMatchObject({
      positionClosedAt: expect.any(Date),
      writtenOffBy: user.id,
      success: true,
      fillStatus: 'filled',
    });
    const [halt] = await board.db.select().from(tradingHalts).where(eq(tradingHalts.userId, id));
    expect(halt).toMatchObject({
      endedAt: null,
      clearedHow: expect.stringMatching(
        /^The position was written off by .+: The position is in account 4711,/,
      ),
    });
    expect((await writeOff(trade.id)).statusCode).toBe(404);
  });

  // Requirements: additions-order-and-positions-12
  testEveryCase('excludes positions that the account shows and positions of unfinished trades', async () => {
    const { trade } = await withPosition();
    const shown = await writeOff(trade.id);
    expect([shown.statusCode, shown.json().message]).toEqual([
      409,
      'The connected account can show the position: only one that none can show is written off',
    ]);
    await board.db
      .update(trades)
      .set({ exchangeMode: 'live', state: 'protecting' })
      .where(eq(trades.id, trade.id));
    expect((await writeOff(trade.id)).statusCode).toBe(409);
    await board.db
      .update(trades)
      .set({ exchangeMode: trade.exchangeMode, state: 'done' })
      .where(eq(trades.id, trade.id));
    const [row] = await board.db.select().from(trades).where(eq(trades.id, trade.id));
    expect(row).toMatchObject({ positionClosedAt: null, writtenOffBy: null });
    expect((await writeOff(randomUUID())).statusCode).toBe(404);
    expect((await writeOff('x')).statusCode).toBe(400);
  });
});

describe('access', () => {
  // Requirements: additions-order-and-positions-7
  test('a user sees only their own positions, even with another userId', async () => {
    const other = await withPosition();
    const own = await withPosition();
    for (const path of ['/api/my-positions', `/api/my-positions?userId=${other.id}`]) {
      await board.db.update(users).set({ isActive: true }).where(eq(users.id, own.id));
      const answer = await own.client.get(path);
      expect(answer.statusCode).toBe(200);
      const told = answer.json<PositionsAnswer>();
      expect(told.open.map(({ userId }) => userId)).toEqual([own.id]);
      expect(told.perUser.map(({ userId }) => userId)).toEqual([own.id]);
      expect(answer.body).not.toContain(other.id);
    }
  });

  // Requirements: additions-order-and-positions-5
  test('an administrator sees all positions, or those of a user or a token', async () => {
    const [one, two] = [await withPosition(), await withPosition()];
    const all = await positions();
    const shown = all.open.map(({ userId }) => userId);
    expect(shown).toEqual(expect.arrayContaining([one.id, two.id]));
    expect((await positions({ token: two.token })).open.map(({ userId }) => userId)).toEqual([two.id]);
    expect((await positions({ userId: one.id, token: two.token })).open).toEqual([]);
    expect(all.totals.openCount).toBe(all.open.length);
  });

  test.each(['userId=me', 'token=btc', 'token=../x', 'limit=0', 'limit=1001', 'limit=x'])(
    'a query with %s is a bad request',
    async (query) => {
      expect((await board.admin.get(`/api/positions?${query}`)).statusCode).toBe(400);
    },
  );
});

describe('asking the exchange', () => {
  test('makes one request for twenty concurrent screens', async () => {
    const { deps } = board;
    const { id } = await withPosition();
    const reader = createAccountReader(deps);
    const before = board.site.requests.length;
    await Promise.all(
      Array.from({ length: 20 }, () => listPositions(deps, reader, { userId: id, limit: 10 })),
    );
    const asked = board.site.requests.slice(before).filter(({ userId }) => userId === id);
    expect(asked.filter(({ path }) => path.endsWith('all-position'))).toHaveLength(1);
  });

  testEveryCase('reads only a few of many accounts at a time', async () => {
    const { deps } = board;
    // No sign-ins: each would cost two more password hashes.
    const traders = await Promise.all(
      Array.from({ length: 12 }, async (_, number) => {
        const body = { username: `many${number}@example.com`, password: 'a password of a user' };
        const { user } = (await board.admin.post('/api/admin/create-client', body)).json();
        return user as { id: string };
      }),
    );
    const asked: string[] = [];
    let underWay = 0;
    let most = 0;
    const counted: Exchange = Object.create(exchange, {
      fetchHoldings: {
        value: async (account: ExchangeAccount, options: Parameters<Exchange['fetchHoldings']>[1]) => {
          asked.push(account.userId);
          underWay += 1;
          most = Math.max(most, underWay);
          try {
            return await exchange.fetchHoldings(account, options);
          } finally {
            underWay -= 1;
          }
        },
      },
    });
    const reader = createAccountReader({ ...deps, exchanges: { ...deps.exchanges, get: () => counted } });
    // However long the accounts take, the screen waits for them.
    const { unreachable } = await listPositions({ ...deps, clock: testClock() }, reader, { limit: 10 });
    expect(unreachable).toEqual([]);
    expect(asked).toEqual(expect.arrayContaining(traders.map(({ id }) => id)));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  // Requirements: additions-order-and-positions-8
  test.each(oneOfEachKind(['timeout', 'html200'] as const, (kind) => kind === 'html200'))(
    'names an account that cannot be read because of %s, closes nothing, and shows the others',
    async (kind) => {
      const [away, there] = [await withPosition(), await withPosition()];
      board.site.setFaults([{ kind, on: { path: 'all-position', userId: away.id, times: 1_000 } }]);
      for (const { id } of [away, there]) await readAnew(id);
      const answer = (await board.admin.get('/api/positions')).json<PositionsAnswer>();
      expect(answer.unreachable).toMatchObject([{ userId: away.id, username: away.username }]);
      expect(answer.unreachable[0]?.message).toMatch(/^Bitget: /);
      expect(answer.open.map(({ userId }) => userId)).toContain(there.id);
      expect(answer.open.map(({ userId }) => userId)).not.toContain(away.id);
      expect(answer.closed.map(({ userId }) => userId)).not.toContain(away.id);
    },
  );
});

/** Closed positions of the trader, one per second up to now. */
const addClosed = (
  { id, trade }: { id: string; trade: { id: string } },
  { token, count, profit }: { token: string; count: number; profit: string | null },
) =>
  board.db.execute(sql`
    insert into closed_positions (id, trade_id, user_id, exchange_platform, exchange_position_id, token, side,
      quantity, entry_price, close_price, realised_profit, fees, closed_by, opened_at, closed_at, recorded_at)
    select gen_random_uuid(), ${trade.id}, ${id}, 'Bitget', gen_random_uuid()::text, ${token}, 'long', 1, 100, 101,
      ${profit}::numeric, ${profit === null ? null : '0.25'}::numeric, 'take profit', now(),
      now() - make_interval(secs => number), now()
    from generate_series(1, ${count}::integer) as number`);

testEveryCase('lists the newest of a thousand closed positions and sums all of them', async () => {
  const trader = await withPosition();
  const { id } = trader;
  await addClosed(trader, { token: 'MANY', count: 1_100, profit: '1.5' });
  const told = await positions({ userId: id, token: 'MANY' });
  expect(told.closed).toHaveLength(100);
  expect(told.closedCount).toBe(1_100);
  const times = told.closed.map(({ closedAt }) => closedAt);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(told.totals).toMatchObject({ realisedProfit: '1650', fees: '275' });
  expect(told.perToken).toMatchObject([{ token: 'MANY', realisedProfit: '1650', fees: '275' }]);
  expect(told.cumulativeProfit).toHaveLength(1_000);
  expect(toPlain(told.cumulativeProfit.at(-1)?.profit ?? '0')).toBe('1375');
  expect(toPlain(told.cumulativeProfit[0]?.profit ?? '0')).toBe(toPlain(D('1.25').times(101)));
  expect((await positions({ userId: id, token: 'MANY', limit: 1_000 })).closed).toHaveLength(1_000);
});

// Requirements: additions-order-and-positions-18
test('pages through all closed positions of a filter, up to an instant, without asking an exchange', async () => {
  const trader = await withPosition();
  await addClosed(trader, { token: 'PAGED', count: 25, profit: '1.5' });
  board.site.setReachable(false);
  const read = async (query: string) => {
    const answer = await board.admin.get(`/api/positions/closed?userId=${trader.id}&token=PAGED&${query}`);
    expect(answer.statusCode, answer.body).toBe(200);
    return answer.json<ClosedPositionsAnswer>();
  };
  const pages = await Promise.all([1, 2, 3].map((page) => read(`page=${page}&limit=10`)));
  expect(pages.map(({ closed, total }) => [closed.length, total])).toEqual([
    [10, 25],
    [10, 25],
    [5, 25],
  ]);
  const times = pages.flatMap(({ closed }) => closed.map(({ closedAt }) => closedAt));
  expect(times).toEqual(times.toSorted().toReversed());
  const until = encodeURIComponent(times[20] ?? '');
  expect((await read(`until=${until}`)).closed.map(({ closedAt }) => closedAt)).toEqual(times.slice(20));
  expect((await board.admin.get('/api/positions/closed?until=yesterday')).statusCode).toBe(400);
});

testEveryCase('the sums of closed positions follow inserts, updates and deletes', async () => {
  const trader = await withPosition();
  const { id } = trader;
  const told = async (token?: string) => {
    const answer = await positions({ userId: id, ...(token === undefined ? {} : { token }) });
    const last = answer.cumulativeProfit.at(-1)?.profit;
    const { closedCount, totals, perToken } = answer;
    return {
      closedCount,
      profit: totals.realisedProfit,
      fees: totals.fees,
      afterFees: last === undefined ? null : toPlain(last),
      tokens: perToken.flatMap(({ token: name, realisedProfit }) =>
        realisedProfit === '0' ? [] : [[name, realisedProfit]],
      ),
    };
  };
  await addClosed(trader, { token: 'SUMA', count: 4, profit: '2' });
  await addClosed(trader, { token: 'SUMB', count: 2, profit: '-3.5' });
  // The exchange has only reported that the position is gone.
  await addClosed(trader, { token: 'SUMB', count: 1, profit: null });
  expect(await told()).toEqual({
    closedCount: 7,
    profit: '1',
    fees: '1.5',
    afterFees: '-0.5',
    tokens: [
      ['SUMA', '8'],
      ['SUMB', '-7'],
    ],
  });
  await board.db.execute(sql`
    update closed_positions set token = 'SUMC', realised_profit = 10 where token = 'SUMB' and realised_profit is not null`);
  expect(await told('SUMB')).toMatchObject({ closedCount: 1, profit: '0', fees: '0', afterFees: null });
  expect(await told('SUMC')).toMatchObject({ closedCount: 2, profit: '20', fees: '0.5', afterFees: '19.5' });
  await board.db.execute(sql`delete from closed_positions where token in ('SUMB', 'SUMC')`);
  expect(await told()).toEqual({
    closedCount: 4,
    profit: '8',
    fees: '1',
    afterFees: '7',
    tokens: [['SUMA', '8']],
  });
});
