import { afterAll, describe, expect, test, vi } from 'vitest';
import type { Statement } from '#contract/statements.ts';
import { D, toPlain } from '#domain/decimal.ts';
import { recordSnapshot } from '#server/engine/protection/account-figures.store.ts';
import { timeOrderedId } from '#server/platform/ids.ts';
import { monthBounds, monthOf } from '#server/platform/month-bounds.ts';
import { expectAnswer, UNKNOWN_ID } from '#test/app/test-client.ts';
import { createSender } from '#test/app/test-sender.ts';
import { startWorld, TRADING } from '#test/world.ts';

const board = await startWorld(TRADING);
afterAll(() => board.close());
const sender = await createSender({ app: board.app, client: board.admin });
const trader = await board.createTrader({ signalProcessor: 'Any' });
const other = await board.createUser();
const { id: userId } = trader.user;
const month = monthOf(new Date(), board.config.displayTimezone);

const read = async (query = '', client = board.admin) =>
  await client.get(`/api/statements/${userId}${query}`);
const statementOf = async (query = '') => {
  const answer = await read(query);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json<Statement>();
};
const balance = async () =>
  (await board.query('select balance from paper_accounts where user_id = $1', [userId]))[0]?.balance;

/** A trade that opens at 65,000 and reaches its target. */
await sender.candle({ ATR: '300', mature_trend: 'up' });
await sender.signal({ time: new Date().toISOString() });
await vi.waitFor(
  async () =>
    expect(await board.query('select from paper_positions where user_id = $1', [userId])).toHaveLength(1),
  {
    timeout: 30_000,
    interval: 50,
  },
);
await sender.candle({ Close: '70000', High: '70000', DateTime: '202601020315' });
await vi.waitFor(
  async () =>
    expect(await board.query('select from paper_positions where user_id = $1', [userId])).toHaveLength(0),
  {
    timeout: 30_000,
    interval: 50,
  },
);

// Requirements: results-statements-2
test('a month on paper begins with its deposit, and opening and lines add up to the balance of the wallet', async () => {
  const statement = await statementOf();
  expect(statement).toMatchObject({ userId, month, complete: true, openingBalance: '0' });
  expect(statement.lines.map(({ kind }) => kind)).toEqual(['deposit', 'fee', 'trade', 'fee']);
  const sum = statement.lines.reduce((total, { amount }) => total.plus(amount), D(0));
  expect(statement.closingBalance).toBe(toPlain(sum));
  expect(statement.closingBalance).toBe(toPlain(await balance()));
  const [trade] = await board.query('select id from trades where user_id = $1', [userId]);
  expect(statement.lines[1]).toMatchObject({
    tradeId: trade?.id,
    text: expect.stringMatching(/^Fee: Bought .* BTC at 65000 on Bitget$/),
  });
});

test('the next month opens with what the last one closed with', async () => {
  const { to, closingBalance } = await statementOf();
  const next = monthOf(new Date(Date.parse(to) + 86_400_000), board.config.displayTimezone);
  const following = await statementOf(`?month=${next}`);
  expect(following).toMatchObject({ openingBalance: closingBalance, closingBalance, lines: [], from: to });
  expect(await statementOf('?month=2020-01')).toMatchObject({
    openingBalance: '0',
    closingBalance: '0',
    lines: [],
  });
});

// Requirements: results-statements-3
test('an administrator sets the percentage, the fee is computed above the mark, and the change leaves an entry', async () => {
  const set = (percent: string) => board.admin.put(`/api/admin/user/${userId}/statement-fee`, { percent });
  const path = `/api/admin/user/${userId}/statement-fee`;
  expectAnswer(await board.admin.get(path), 200, { percent: '0' });
  expectAnswer(await set('30'), 200, { percent: '30' });
  expectAnswer(await board.admin.get(path), 200, { percent: '30' });
  const { closingBalance, lines, fee } = await statementOf();
  const gained = D(closingBalance ?? '').minus(lines[0]?.amount ?? '');
  expect(gained.gt(0)).toBe(true);
  expect(fee).toEqual({
    percent: '30',
    highWaterMark: closingBalance,
    due: gained.times('0.3').toFixed(2, 4),
  });
  const [entry] = await board.query(
    `select before, after from audit_log where action = 'settings changed' and subject_id = $1 order by at desc limit 1`,
    [userId],
  );
  expect(entry).toEqual({ before: { statementFeePercent: '0' }, after: { statementFeePercent: '30' } });
  for (const percent of ['101', '-1', 'a third']) expect((await set(percent)).statusCode).toBe(400);
  expectAnswer(await trader.client.put(path, { percent: '0' }), 403, 'Administrators only');
  expectAnswer(await trader.client.get(path), 403, 'Administrators only');
});

test('as CSV it has the same lines between opening and closing balance', async () => {
  const statement = await statementOf();
  const answer = await read('?format=csv');
  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
  const rows = answer.body.replace('\ufeff', '').trimEnd().split('\r\n');
  expect(rows).toHaveLength(1 + 1 + statement.lines.length + 4);
  expect(rows[1]).toContain(',opening balance,');
  expect(rows.at(-4)).toContain(`,closing balance,,${statement.closingBalance},`);
  expect(rows.at(-3)).toMatch(/,open profit at start,not part of the balances,unknown,$/);
});

test('as a page it has no script, may only use its own style, and escapes what users chose', async () => {
  await board.query(`update users set username = '<b>ada</b>' where id = $1`, [userId]);
  const answer = await read('?format=html');
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(answer.body).toContain('@page{size:A4');
  expect(answer.body).toContain('&lt;b&gt;ada&lt;/b&gt;');
  expect(answer.body).not.toContain('<b>ada');
  // As on screens: yyyy/MM/dd in the display zone, and thousands separators.
  expect(answer.body).toContain(`<h1>Statement ${month.replace('-', '/')}</h1>`);
  expect(answer.body).toContain(
    `<td>${month.replace('-', '/')}/01 00:00:00</td><td></td><td>Opening balance`,
  );
  expect(answer.body).toContain('Paper balance of Bitget</td><td>10,000.00</td>');
  expect(answer.body).toMatch(/At the start<\/td><td>unknown</);
  // The month is not over.
  expect(answer.body).toContain('Balance so far');
  expect(answer.body).toContain('As last recorded (once an hour)</td><td>');
});

// Requirements: results-statements-6
test('open profit comes from the records nearest to the ends of the month, apart from the balances', async () => {
  const { user } = await board.createTrader();
  const record = async (at: string, openProfit: string, exchangePlatform = 'Bitget') =>
    await recordSnapshot(board.deps.db, {
      id: timeOrderedId(),
      userId: user.id,
      exchangePlatform,
      exchangeMode: 'paper',
      at: new Date(at),
      takenFor: 'hour',
      equity: '1000',
      walletBalance: '1000',
      openProfit,
      netDeposits: null,
      positions: [],
    });
  const openProfit = async (of: string) => {
    const { openProfitAtStart, openProfitAtEnd, ...statement } = (
      await board.admin.get(`/api/statements/${user.id}?month=${of}`)
    ).json<Statement>();
    expect(statement).toMatchObject({ openingBalance: '0', closingBalance: '0' });
    return [openProfitAtStart, openProfitAtEnd];
  };
  // March in Los Angeles begins at 08:00 UTC and ends at 07:00.
  await record('2025-03-01T06:30:00Z', '99');
  await record('2025-03-01T08:00:03Z', '1234.5');
  await record('2025-03-01T10:00:00Z', '-99');
  await record('2025-04-01T05:00:00Z', '-3.25');
  expect(await openProfit('2025-03')).toEqual(['1234.5', '-3.25']);
  const page = await board.admin.get(`/api/statements/${user.id}?month=2025-03&format=html`);
  expect(page.body).toContain('At the start</td><td>1,234.50</td>');
  expect(page.body).toContain('2025/04/01 00:00:00</td><td></td><td>Closing balance');
  expect(page.body).toContain('At the end</td><td>−3.25</td>');
  const csv = await board.admin.get(`/api/statements/${user.id}?month=2025-03&format=csv`);
  expect(csv.body).toContain(',open profit at end,not part of the balances,-3.25,');

  // An account that the user left in March joins from its first record until its last.
  await record('2025-02-20T08:00:00Z', '7', 'Bybit');
  await record('2025-03-01T08:00:00Z', '0.5', 'Bybit');
  expect(await openProfit('2025-03')).toEqual(['1235', '-3.25']);
  // Nothing was recorded near the ends of these, or nothing yet.
  await record('2025-06-15T00:00:00Z', '5');
  expect(await openProfit('2025-04')).toEqual(['-3.25', null]);
  expect(await openProfit('2025-02')).toEqual([null, '1235']);
  expect(await openProfit('2099-01')).toEqual([null, null]);
});

describe('access', () => {
  // Requirements: results-statements-4
  test('users read their own; that of another user or of nobody is not found', async () => {
    expect((await read('', trader.client)).statusCode).toBe(200);
    expectAnswer(await read('', other.client), 404, 'User not found');
    expectAnswer(await board.admin.get(`/api/statements/${UNKNOWN_ID}`), 404, 'User not found');
  });

  test.each(['month=2026-13', 'month=0000-01', 'month=october', 'format=pdf'])(
    'refuses %s',
    async (query) => {
      expect((await read(`?${query}`)).statusCode).toBe(400);
    },
  );
});

// Requirements: results-statements-5
test('where the exchange keeps the ledger it says incomplete, without balances or a fee', async () => {
  const live = await startWorld({ config: { exchangeMode: 'demo' } });
  try {
    const { user } = await live.createUser();
    const path = `/api/statements/${user.id}`;
    expect((await live.admin.get(path)).json()).toMatchObject({
      complete: false,
      openingBalance: null,
      closingBalance: null,
      lines: [],
      fee: { due: null, highWaterMark: null },
    });
    expect((await live.admin.get(`${path}?format=html`)).body).toContain('Incomplete');
  } finally {
    await live.close();
  }
});

test.each([
  ['Pacific/Kiritimati', '2026-10', '2026-09-30T10:00:00.000Z', '2026-10-31T10:00:00.000Z'],
  ['America/Los_Angeles', '2026-11', '2026-11-01T07:00:00.000Z', '2026-12-01T08:00:00.000Z'],
  ['Etc/GMT+12', '2026-12', '2026-12-01T12:00:00.000Z', '2027-01-01T12:00:00.000Z'],
])('in %s %s lasts from midnight to midnight', (timeZone, name, from, to) => {
  expect(monthBounds(name, timeZone)).toEqual({ from: new Date(from), to: new Date(to) });
});
