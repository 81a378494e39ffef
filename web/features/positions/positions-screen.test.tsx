// @vitest-environment jsdom
import { describe, expect, test } from 'vitest';
import {
  alertOf,
  dialog,
  eventually,
  expectGone,
  expectToast,
  failure,
  findTitle,
  page,
  recorded,
  renderApp,
  rowOf,
  rowsOf,
  scopeOf,
  UNREACHABLE,
} from '#test/web/render-app.tsx';

const POSITIONS = 'GET /api/positions';
const CLOSE = 'POST /api/positions/close';
const MINE = 'GET /api/my-positions';
const answer = recorded[POSITIONS];
const [position] = answer.open;
const none = recorded[MINE];

const figure = (label: string) =>
  page()
    .getAllByText(label)
    .find((one) => one.tagName === 'DT')?.nextElementSibling?.textContent;

test('says in each part that there are no positions', async () => {
  renderApp('/positions', { [POSITIONS]: none });
  await page().findByText(/^As the exchanges report them, as of \d{4}\//);
  for (const [table, text] of [
    ['Open Positions', 'No open positions'],
    ['Closed Positions', 'No closed positions yet'],
    ['Totals per user', 'No positions yet'],
    ['Totals per token', 'No positions yet'],
  ] as const) {
    expect(page().getByRole('table', { name: table }).textContent).toContain(text);
  }
  expect(figure('Open Positions')).toBe('0');
  expect(figure('Net Profit')).toContain('$0.00');
  expect(page().queryByRole('img', { name: /^Cumulative profit/ })).toBeNull();
});

// Requirements: additions-order-and-positions-6
test('reports why a close failed, also in the dialog, and allows a retry', async () => {
  const refused = 'The exchange refused the order: 40762';
  const app = renderApp('/positions', { [CLOSE]: { success: false, message: refused } });
  const { getByRole } = await rowOf('Open Positions', 'follower@example.com');
  await app.user.click(getByRole('button', { name: /^Close ETH position/ }));
  const question = await dialog('Close Position - ETH');
  for (const text of ['follower@example.com', 'Long', '22.6 ETH', '$3,000.00', '10x']) {
    expect(question.element.textContent).toContain(text);
  }
  const close = async () => await app.user.click(question.getByRole('button', { name: 'Close Position' }));
  await close();
  await expectToast('Failed to Close Position', refused);
  expect(question.getByRole('alert').textContent).toContain(refused);
  const underWay = 'An order of this user in ETH is under way';
  app.answers[CLOSE] = failure(409, underWay);
  await close();
  await expectToast('Failed to Close Position', underWay);
  expect(question.getByRole('alert').textContent).toContain(underWay);
  app.answers[CLOSE] = { success: true, message: 'Closed' };
  app.answers[POSITIONS] = none;
  await close();
  await expectToast('Position Closed');
  await expectGone(() => page().queryByRole('dialog'));
  expect(app.sent(CLOSE).at(-1)?.body).toEqual({ userId: position?.userId, token: 'ETH' });
});

test("says in the dialog when the position's stop is hit in the meantime", async () => {
  const app = renderApp('/positions');
  const row = await rowOf('Open Positions', 'follower@example.com');
  await app.user.click(row.getByRole('button', { name: /^Close ETH position/ }));
  const question = await dialog('Close Position - ETH');
  app.answers[POSITIONS] = none;
  await app.user.click(page().getByRole('button', { name: 'Refresh' }));
  await question.findByText(/No longer open/);
});

test('keeps the filters in the URL', async () => {
  const app = renderApp('/positions');
  await page().findByRole('option', { name: 'SOL' });
  await app.user.selectOptions(page().getByLabelText('Token'), 'SOL');
  await page().findByRole('option', { name: 'other@example.com' });
  await eventually(() => expect(app.address()).toBe('/positions?token=SOL'));
  await app.user.selectOptions(page().getByLabelText('User'), 'other@example.com');
  await eventually(() => expect(app.address()).toContain('userId='));
  expect(app.sent(POSITIONS).at(-1)?.query).toMatchObject({ token: 'SOL', userId: answer.open[1]?.userId });
});

// Requirements: additions-order-and-positions-8
test('shows differences, unreadable accounts and cheap tokens', async () => {
  const pepe = {
    ...position,
    token: 'PEPE',
    quantity: '1250000',
    entryPrice: '0.00001234',
    stopLoss: null,
    tradeId: null,
    differences: ['Not opened by this product', 'The stop loss is missing at the exchange'],
  };
  const unreachable = [
    { userId: 'x', username: 'carl@example.com', message: 'Bybit did not answer', hidden: [] },
  ];
  renderApp('/positions', { [POSITIONS]: { ...answer, open: [pepe, position], unreachable } });
  const row = await rowOf('Open Positions', 'PEPE');
  for (const text of ['1,250,000', '$0.00001234', 'No stop']) expect(row.element.textContent).toContain(text);
  const lists = page().getAllByRole('list', { name: 'Differences' });
  expect(lists).toHaveLength(1);
  const [list = document.body] = lists;
  expect(
    scopeOf(list)
      .getAllByRole('listitem')
      .map((item) => item.textContent),
  ).toEqual(pepe.differences);
  const silent = page().getByText('1 account could not be read in full.').closest('[role="status"]');
  expect(silent?.textContent).toContain('carl@example.com: Bybit did not answer');
});

test('keeps the data when a refresh fails, and removes the notice after the next one', async () => {
  const app = renderApp('/positions', { [POSITIONS]: UNREACHABLE });
  const failed = await alertOf('Failed to fetch positions');
  expect(failed.element.textContent).toContain('The server cannot be reached');
  delete app.answers[POSITIONS];
  await app.user.click(failed.getByRole('button', { name: 'Try again' }));
  await rowOf('Open Positions', 'follower@example.com');
  app.answers[POSITIONS] = UNREACHABLE;
  await app.user.click(page().getByRole('button', { name: 'Refresh' }));
  await alertOf('Failed to fetch positions');
  expect(rowsOf('Open Positions')).toHaveLength(2);
  delete app.answers[POSITIONS];
  await app.user.click(page().getByRole('button', { name: 'Refresh' }));
  await expectGone(() => page().queryByText('Failed to fetch positions'));
});

describe('own positions on the dashboard', () => {
  // Requirements: additions-order-and-positions-7
  test('are shown with their figures and no way to close them, and a failed fetch is reported', async () => {
    const mine = { ...position, token: 'ETH', quantity: '3.33', margin: '999', unrealisedProfit: '99.9' };
    const totals = { ...none.totals, openCount: 1, unrealisedProfit: '99.9', margin: '999' };
    const app = renderApp('/', { [MINE]: UNREACHABLE }, { user: { isAdmin: false } });
    const failed = await alertOf('Failed to fetch positions');
    app.answers[MINE] = { ...none, open: [mine], totals };
    await app.user.click(failed.getByRole('button', { name: 'Try again' }));
    const own = await page().findByRole('list', { name: 'My open positions' });
    for (const text of ['ETH', 'Long', '3.33 at $3,000.00', '+$99.90 (+10.00%)']) {
      expect(own.textContent).toContain(text);
    }
    expect(figure('Unrealised profit')).toBe('+$99.90');
    expect(page().queryByRole('link', { name: 'All positions' })).toBeNull();
    expect(page().queryByRole('button', { name: /^Close/ })).toBeNull();
  });

  // Requirements: additions-order-and-positions-7
  test('link administrators to the positions of all users', async () => {
    const app = renderApp('/');
    await page().findByText('No open positions');
    await app.user.click(page().getByRole('link', { name: 'All positions' }));
    await findTitle('Positions');
  });
});
