import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OrderResult, OrdersInDoubt } from '#contract/position-maker.ts';
import type { PositionsAnswer } from '#contract/positions.ts';
import { advanceTrade } from '#server/engine/orders/advance-trade.ts';
import { testEveryCase } from '#test/app/in-turn.ts';
import { expectAnswer } from '#test/app/test-client.ts';
import { untilQueueIsEmpty } from '#test/app/unfinished-jobs.ts';
import type { SiteCredentials } from '#test/venues/test-exchange-site.ts';
import { newSecrets, KEY_PATH as PATH, type SiteKey } from '#test/world/keys.ts';
import { startWorld, type TestUser } from '#test/world.ts';

/** The whole program against an exchange that revokes keys while work depends on them. */
const TOKENS = ['ETH', 'SOL', 'XRP', 'ADA', 'DOGE', 'LTC', 'LINK', 'DOT', 'AVAX'];
const REJECTED =
  /^The Bitget API key is not used since .*Z: Bitget refused it: Invalid ACCESS_KEY \(40006\)$/;

let trader: TestUser;
let key: SiteKey;
let token: string;

const board = await startWorld({ exchange: 'demo', engine: true, config: { exchangeTimeoutMs: 700 } });
const { site } = board;
for (const name of TOKENS) await site.push(name, '100');
afterAll(() => board.close());
beforeEach(async () => {
  site.setFaults([]);
  token = TOKENS.shift() ?? '';
  trader = await board.createTrader();
  key = board.newKey();
  expect((await enter(key)).statusCode).toBe(200);
});
afterEach(async () => {
  await board.setTrading(trader.user.id, false);
});

const enter = (entered: SiteCredentials) => board.enter(trader, entered);
const send = () => board.send(token);
const orderOf = async (tradeId: string) =>
  (await board.admin.get(`/api/position-maker/orders/${tradeId}`)).json<OrderResult>();
const inDoubt = async () =>
  (await board.admin.get('/api/position-maker/orders-in-doubt')).json<OrdersInDoubt>().orders;
const writeOff = (tradeId: string) => board.admin.post(`/api/position-maker/orders/${tradeId}/write-off`);

/** An order whose answer was lost and whose look-ups fail until the faults are lifted. */
async function sendIntoDoubt(): Promise<{ tradeId: string; signalId: string }> {
  site.setFaults([
    { kind: 'cutAfterAccept', on: { path: '/place-order' } },
    { kind: 'refuse', code: '40725', on: { path: '/order/detail', times: Infinity } },
  ]);
  const signalId = await send();
  const unknown = () =>
    board.query(
      "select t.id from trades t join order_attempts a on a.trade_id = t.id where t.user_id = $1 and a.state = 'unknown'",
      [trader.user.id],
    );
  await expect.poll(async () => (await unknown()).length, { timeout: 10_000, interval: 50 }).toBe(1);
  return { signalId, tradeId: (await unknown())[0].id };
}

/** Revokes the key and waits until the engine has noticed. */
async function revokeDuring(tradeId: string): Promise<void> {
  site.replaceKey(key.accountId);
  site.setFaults([]);
  await expect
    .poll(async () => (await orderOf(tradeId)).message, { timeout: 10_000, interval: 50 })
    .toMatch(/^The order cannot be followed, it is tried every 30 s: The Bitget API key is not used since /);
}

// Requirements: users-17
test('a revoked key ends its user’s automation with the reason, and is not used again', async () => {
  site.replaceKey(key.accountId);
  const first = await send();
  await board.traded(first);
  expect((await board.shown(trader)).problem).toMatch(REJECTED);
  const asked = site.requests.length;
  const second = await send();
  await board.traded(second);
  expect(await board.userOf(second, trader)).toMatchObject({
    status: 'not eligible',
    reason: expect.stringMatching(REJECTED),
  });
  await untilQueueIsEmpty(board.database.db);
  expect(site.requests).toHaveLength(asked);

  site.replaceKey(key.accountId, key);
  expect(await board.testKey(trader)).toMatchObject({ success: true });
  const third = await send();
  await board.traded(third);
  expect(await board.userOf(third, trader)).toMatchObject({ status: 'eligible' });
  expect(await site.exchangeOrders(key.accountId)).toHaveLength(1);
});

// Requirements: users-18
testEveryCase(
  'an order in doubt is looked up slowly with a revoked key, and a new key of the account settles it',
  async () => {
    const { tradeId, signalId } = await sendIntoDoubt();
    await revokeDuring(tradeId);
    const wait = () =>
      board.query('select extract(epoch from due_at - now())::int as s from trades where id = $1', [tradeId]);
    await expect.poll(async () => (await wait())[0].s, { timeout: 5_000, interval: 50 }).toBeGreaterThan(20);
    // Nothing looks it up before that time.
    const calls = () =>
      board.query(
        `select extract(epoch from start_after - now())::int as s from jobs.job
       where name = 'advance-trade' and data->>'tradeId' = $1 and state in ('created', 'retry', 'active')`,
        [tradeId],
      );
    await expect.poll(async () => (await calls()).every(({ s }) => s > 15), { timeout: 5_000 }).toBe(true);

    const elsewhere = await enter(board.newKey());
    expect(elsewhere.statusCode).toBe(409);
    expect(elsewhere.json().message).toMatch(
      new RegExp(
        `and this API key belongs to another account, .* Enter a key of account ${key.accountId}, wait until`,
      ),
    );
    const another = newSecrets();
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info' } }]);
    const unknown = await enter(another);
    expect(unknown.statusCode).toBe(409);
    expect(unknown.json().message).toContain('Bitget has not told to which account this API key belongs.');
    expect(await board.shown(trader)).toMatchObject({ state: 'rejected' });

    site.setFaults([]);
    site.replaceKey(key.accountId, another);
    expect((await enter(another)).json()).toMatchObject({ state: 'ready' });
    await expect
      .poll(() => orderOf(tradeId), { timeout: 10_000 })
      .toMatchObject({
        done: true,
        success: true,
        fillStatus: 'filled',
      });
    await board.traded(signalId);
    expect((await site.holding(key.accountId, token)).stopLoss).not.toBeNull();
  },
);

// Requirements: users-18
testEveryCase('an order in doubt is not settled by the answer of another account', async () => {
  const { tradeId } = await sendIntoDoubt();
  await revokeDuring(tradeId);
  // As if another account's key had been put into the row: that account does not know the order.
  const other = board.newKey();
  const stranger = await board.createUser();
  await stranger.client.put(PATH, { exchangePlatform: 'Bitget', ...other, accountId: undefined });
  await board.query(
    'update exchange_credentials set account_id = $2, rejected_at = null where user_id = $1',
    [trader.user.id, other.accountId],
  );
  const { findAccount } = board.deps;
  const deps = {
    ...board.deps,
    findAccount: async (...[userId, ...more]: Parameters<typeof findAccount>) => {
      const found = await findAccount(stranger.user.id, ...more);
      return found && { ...found, userId };
    },
  };
  await board.query(
    "update order_attempts set submitted_at = submitted_at - interval '10 minutes' where trade_id = $1",
    [tradeId],
  );
  const asked = site.requests.length;
  for (let look = 0; look < 5; look += 1) {
    await board.query('update trades set due_at = null where id = $1', [tradeId]);
    await advanceTrade(deps, tradeId);
  }
  const [attempt] = await board.query('select state, lookup_misses from order_attempts where trade_id = $1', [
    tradeId,
  ]);
  expect(attempt).toEqual({ state: 'unknown', lookup_misses: 0 });
  expect(site.requests).toHaveLength(asked);
  expect((await orderOf(tradeId)).message).toContain(
    `The order is in account ${key.accountId}, and the connected API key belongs to account ${other.accountId}`,
  );
});

testEveryCase('an order of one mode is not settled in another mode', async () => {
  const { tradeId } = await sendIntoDoubt();
  await board.query("update trades set exchange_mode = 'live', due_at = null where id = $1", [tradeId]);
  await board.query(
    "update order_attempts set submitted_at = submitted_at - interval '10 minutes' where trade_id = $1",
    [tradeId],
  );
  await expect
    .poll(async () => (await orderOf(tradeId)).message, { timeout: 5_000 })
    .toContain('The order belongs to live mode, and the program runs in demo mode');
  const [attempt] = await board.query('select state from order_attempts where trade_id = $1', [tradeId]);
  expect(attempt).toEqual({ state: 'unknown' });
});

describe('while a position is open', () => {
  async function withPosition(): Promise<void> {
    await board.traded(await send());
    await expectPositions({ open: [{ token, tradeId: expect.any(String) }] });
  }

  /** Bypasses cached readings by asking to close a token without a position. */
  async function positions(): Promise<PositionsAnswer> {
    await board.admin.post('/api/positions/close', { userId: trader.user.id, token: 'BTC' });
    return (await trader.client.get('/api/my-positions')).json<PositionsAnswer>();
  }

  /** Request limits delay some answers, and a key is asked about at most once a second. */
  const expectPositions = (expected: object) =>
    expect.poll(positions, { timeout: 10_000, interval: 150 }).toMatchObject(expected);

  // Requirements: users-20
  test('a key of another account is refused; after a deletion it is accepted, and the position does not count as closed', async () => {
    await withPosition();
    const other = board.newKey();
    const refused = await enter(other);
    expect([refused.statusCode, refused.json().message]).toEqual([
      409,
      `A position of this user on Bitget is open (${token}), and this API key belongs to another account, which does not show it. Enter a key of account ${key.accountId}, or close the position first. Who has no such key any more deletes the stored one: the position is not watched from here then, and keeps signals in its token away until an administrator writes it off.`,
    ]);
    const another = newSecrets();
    site.replaceKey(key.accountId, another);
    expect((await enter(another)).json()).toMatchObject({ state: 'ready' });
    await expectPositions({ open: [{ token }] });

    await trader.client.delete(PATH, { exchangePlatform: 'Bitget' });
    expect((await enter(other)).json()).toMatchObject({ state: 'ready' });
    await expectPositions({
      open: [],
      closed: [],
      unreachable: [
        {
          message: `${token}: The position is in account ${key.accountId}, and the connected API key belongs to account ${other.accountId}`,
        },
      ],
    });
    // This key's account has no positions.
    expect((await enter(board.newKey())).json()).toMatchObject({ state: 'ready' });
    expect((await enter(another)).json()).toMatchObject({ state: 'ready' });
    await expectPositions({ open: [{ token, differences: [] }], unreachable: [] });
  });

  // Requirements: users-20
  testEveryCase('a refused key is shown as the reason why the position cannot be read', async () => {
    await withPosition();
    site.replaceKey(key.accountId);
    await trader.client.post(`${PATH}/test`, { exchangePlatform: 'Bitget' });
    await expectPositions({
      open: [],
      closed: [],
      unreachable: [
        {
          message: expect.stringMatching(new RegExp(`^${token}: ${REJECTED.source.slice(1)}`)),
          hidden: [{ token }],
        },
      ],
    });
  });

  // Requirements: users-20
  testEveryCase('a key whose account is unknown is inspected before anything is concluded', async () => {
    await withPosition();
    await trader.client.delete(PATH, { exchangePlatform: 'Bitget' });
    site.setFaults([{ kind: 'badGatewayBefore', on: { path: '/account/info', times: 1_000 } }]);
    expect((await enter(key)).json()).toMatchObject({ state: 'unverified' });
    await expectPositions({
      open: [{ token, tradeId: null }],
      unreachable: [{ message: expect.stringContaining('belongs to an account that is not known') }],
    });
    site.setFaults([]);
    await expectPositions({ open: [{ token, differences: [] }], unreachable: [] });
  });
});

// Requirements: users-19
test('an administrator writes off an order that nobody can look up, and its outcome stays unknown', async () => {
  const { tradeId, signalId } = await sendIntoDoubt();
  await board.query("update trades set created_at = created_at - interval '1 minute' where id = $1", [
    tradeId,
  ]);
  expect(await inDoubt()).not.toContainEqual(expect.objectContaining({ tradeId }));
  const early = await writeOff(tradeId);
  expectAnswer(
    early,
    409,
    'Asking the exchange may still settle the order: only one that it cannot settle is written off',
  );
  await revokeDuring(tradeId);
  expect(await inDoubt()).toContainEqual(
    expect.objectContaining({
      tradeId,
      username: trader.username,
      token,
      problem: expect.stringMatching(REJECTED),
    }),
  );
  expect((await trader.client.post(`/api/position-maker/orders/${tradeId}/write-off`)).statusCode).toBe(403);

  const written = await writeOff(tradeId);
  expect(written.statusCode, written.body).toBe(200);
  const error = expect.stringMatching(
    /^Outcome unknown, written off by admin@example\.com: The Bitget API key is not used since /,
  );
  expect(written.json()).toMatchObject({ done: true, success: false, fillStatus: 'unknown', error });
  const [row] = await board.query('select written_off_by, written_off_at from trades where id = $1', [
    tradeId,
  ]);
  const admin = (await board.admin.get('/api/auth/user')).json().user.id;
  expect(row).toEqual({ written_off_by: admin, written_off_at: expect.any(Date) });
  expect(await inDoubt()).not.toContainEqual(expect.objectContaining({ tradeId }));
  expect((await writeOff(tradeId)).json()).toEqual({ message: 'The order is settled' });

  const other = board.newKey();
  expect((await enter(other)).json()).toMatchObject({ state: 'ready' });
  const retried = await board.admin.post(`/api/signals/${signalId}/trigger-automation`, {});
  expect(retried.statusCode).not.toBe(500);
  const trades = await board.query('select id from trades where user_id = $1', [trader.user.id]);
  expect(trades).toHaveLength(1);
});
