import type { Page } from '@playwright/test';
import type { PositionsAnswer } from '#contract/positions.ts';
import { expect, test } from './fixtures.ts';
import type { NewUser, Operator } from './operator.ts';
import { dialog, expectToast, pageTitle, tableRow } from './screen.ts';
import { uniqueName } from './unique.ts';

interface Trade {
  user: NewUser;
  symbol: string;
  /** Posts a candle: its close becomes the mark price of the exchange. */
  mark: (price: string) => Promise<void>;
}

let marks = 0;

/**
 * One user trades 10% of 10,000 USDT at leverage 10, filled at the mark. Only this user follows the signal's processor,
 * so no other user of the server trades it.
 */
async function trade(
  operator: Operator,
  fields: { token: string; price: string; atr: string; action?: 'buy' | 'sell' },
): Promise<Trade> {
  const { token, price, atr, action = 'buy' } = fields;
  const processor = uniqueName('robot');
  const symbol = `${token}USDT`;
  const user = await operator.createUser({
    settings: {
      positionSizingMethod: 'Portfolio Allocation',
      investmentPortion: '0.1',
      maximumRiskPerTrade: '0.15',
      signalProcessor: processor,
    },
    activeTrading: true,
  });
  const trend = action === 'buy' ? 'bullish' : 'bearish';
  const trends = { immediate_trend: trend, mature_trend: trend };
  const mark = async (close: string) => {
    const platform = await operator.platform();
    marks += 1;
    // An equal candle in the same minute would count as a duplicate and set no price.
    const answer = await platform.candle({ Symbol: symbol, Close: close, ATR: atr, marks, ...trends });
    expect(answer.status).toBe(200);
  };
  await mark(price);
  const signal = await operator.postSignal({ symbol, price, processor, action });
  expect(signal.successfulTrades).toBe(1);
  return { user, symbol, mark };
}

const openRow = (page: Page, { user }: Trade) => tableRow(page, 'Open Positions', user.username);
const closedRow = (page: Page, { user }: Trade) => tableRow(page, 'Closed Positions', user.username);
const card = (page: Page, name: string) =>
  page.getByRole('main').getByText(name, { exact: true }).locator('xpath=following-sibling::dd[1]');

const SOON = { timeout: 3_000 };

/** Retries because the server asks an exchange at most every two seconds. */
const refreshUntil = (page: Page, isThere: () => Promise<void>) =>
  expect(async () => {
    await page.getByRole('button', { name: 'Refresh' }).click();
    await isThere();
  }).toPass();

async function expectCells(page: Page, table: string, row: ReturnType<typeof tableRow>, cells: object) {
  await expect(row).toBeVisible();
  const headers = await page.getByRole('table', { name: table }).getByRole('columnheader').allTextContents();
  for (const [header, text] of Object.entries(cells)) {
    expect(headers).toContain(header);
    await expect(row.getByRole('cell').nth(headers.indexOf(header)), header).toHaveText(String(text));
  }
}

// Requirements: additions-order-and-positions-5
test("a traded position appears live, follows the price and is closed by its stop with the exchange's profit", {
  tag: '@long',
}, async ({ page, operator, scan }) => {
  await page.goto('/positions');
  await expect(pageTitle(page, 'Positions')).toBeVisible();
  // 10 % of 10,000 at leverage 10 is 10,000 USDT; at a limit of 3,000.9 that is 3.33 ETH, filled at 3,000.
  const eth = await trade(operator, { token: 'ETH', price: '3000', atr: '20' });
  const row = openRow(page, eth);
  // The server may still answer from its cache; the screen polls every ten seconds.
  await expect(row).toBeVisible({ timeout: 25_000 });
  await expectCells(page, 'Open Positions', row, {
    Token: 'ETH',
    Side: 'Long',
    Size: '3.33',
    Entry: '$3,000.00',
    Mark: '$3,000.00',
    Leverage: '10x',
    Margin: '$999.00',
    'Unrealised Profit': '$0.00 (0.00%)',
  });
  await expect(row.getByText('No stop')).toHaveCount(0);

  // 3.33 × 30 = 99.9, which is 10% of the margin of 999.
  await eth.mark('3030');
  await refreshUntil(page, () => expect(row).toContainText('$3,030.00', SOON));
  await expectCells(page, 'Open Positions', row, { 'Unrealised Profit': '+$99.90 (+10.00%)' });

  // The mark falls through the stop: 3.33 × -100 = -333. Fees: 0.06 % of 9,990 and of 9,657, together 11.7882.
  await eth.mark('2900');
  await refreshUntil(page, () => expect(row).toHaveCount(0, SOON));
  await expectCells(page, 'Closed Positions', closedRow(page, eth), {
    Token: 'ETH',
    Side: 'Long',
    Size: '3.33',
    Entry: '$3,000.00',
    Close: '$2,900.00',
    'Net Profit': '−$344.79−$333.00 gross, $11.79 fees',
    'Closed By': 'Stop loss',
  });

  // -333 - 11.7882 = -344.7882.
  await page.goto(`/positions?userId=${eth.user.id}`);
  await expect(card(page, 'Realised Profit').first()).toHaveText('−$333.00');
  await expect(card(page, 'Net Profit')).toHaveText('−$344.79');
  await expectCells(page, 'Totals per user', tableRow(page, 'Totals per user', eth.user.username), {
    Open: '0',
    'Realised Profit': '−$333.00',
    Fees: '$11.79',
  });
  const chart = page.getByRole('img', { name: /^Cumulative profit after fees of 1 closed position / });
  await expect(chart).toHaveAccessibleName(/−\$344\.79 at the end, highest −\$344\.79, lowest −\$344\.79\.$/);
  // The content policy forbids inline style elements, so the library must not create any.
  await expect(page.locator('style')).toHaveCount(0);
  await scan('the positions of a user');
  await page.getByRole('button', { name: 'Show as table' }).click();
  await expect(tableRow(page, 'Cumulative profit', '−$344.79')).toHaveCount(1);
});

// Requirements: additions-order-and-positions-6
test('its button closes a position after a confirmation with its figures', async ({ page, operator }) => {
  // 10,000 USDT at a limit of 150.06 is 66.6 SOL, short at 150.
  const sol = await trade(operator, { token: 'SOL', price: '150', atr: '1', action: 'sell' });
  await sol.mark('149');
  await page.goto(`/positions?userId=${sol.user.id}`);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect(openRow(page, sol)).toBeVisible();
  const open = page.getByRole('region', { name: 'Open Positions' });
  expect(await open.evaluate((region) => region.scrollWidth - region.clientWidth), 'nothing is covered').toBe(
    0,
  );
  const button = page.getByRole('button', { name: `Close SOL position of ${sol.user.username}` });
  await button.focus();
  await page.keyboard.press('Enter');
  const question = dialog(page, 'Close Position - SOL');
  for (const text of [sol.user.username, 'Short', '66.6 SOL', '$150.00', '$149.00', '+$66.60', '10x']) {
    await expect(question).toContainText(text);
  }
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(question).toBeHidden();
  await expect(openRow(page, sol)).toBeVisible();

  await openRow(page, sol)
    .getByRole('button', { name: /^Close 50 %/ })
    .click();
  await question.getByRole('button', { name: 'Close 50 %' }).click();
  await expectToast(page, { title: 'Part Closed', text: '33.3 stays open with its stop' });
  await expectCells(page, 'Open Positions', openRow(page, sol), { Size: '33.3' });

  await button.click();
  await question.getByRole('button', { name: 'Close Position' }).click();
  await expectToast(page, { title: 'Position Closed' });
  await expect(question).toBeHidden();
  await expect(openRow(page, sol)).toHaveCount(0);
  await expectCells(page, 'Closed Positions', closedRow(page, sol), {
    Side: 'Short',
    Size: '66.6',
    Close: '$149.00',
    'Closed By': 'Operator',
  });
});

test('the questions before a close are accessible', { tag: '@long' }, async ({ page, operator, scan }) => {
  const sol = await trade(operator, { token: 'SOL', price: '150', atr: '1', action: 'sell' });
  await page.goto(`/positions?userId=${sol.user.id}`);
  const question = dialog(page, 'Close Position - SOL');
  await page.getByRole('button', { name: `Close SOL position of ${sol.user.username}` }).click();
  await expect(question).toBeVisible();
  await scan('the question before a close');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(question).toBeHidden();
  await openRow(page, sol)
    .getByRole('button', { name: /^Close 50 %/ })
    .click();
  await expect(question).toBeVisible();
  await scan('the question before a part is closed');
});

// Requirements: additions-order-and-positions-8
test('differences, unreachable accounts and cheap tokens are readable', { tag: '@long' }, async ({
  page,
  operator,
  scan,
}) => {
  const { user } = await trade(operator, { token: 'BTC', price: '65000', atr: '300' });
  await page.route(
    ({ pathname }) => pathname === '/api/positions',
    async (route) => {
      const answer = (await (await route.fetch()).json()) as PositionsAnswer;
      const open = answer.open.map((position) => ({
        ...position,
        token: 'PEPE',
        entryPrice: '0.00001234',
        stopLoss: null,
        differences: ['Not opened by this product', 'The stop loss is missing at the exchange'],
      }));
      const silent = {
        userId: 'x',
        username: 'carl@example.com',
        message: 'Bybit did not answer',
        hidden: [],
      };
      await route.fulfill({ json: { ...answer, open, unreachable: [silent] } });
    },
  );
  await page.goto(`/positions?userId=${user.id}`);
  const row = tableRow(page, 'Open Positions', 'PEPE');
  await expectCells(page, 'Open Positions', row, {
    Entry: '$0.00001234',
    'Stop to Target': 'No stop',
  });
  await expect(page.getByRole('list', { name: 'Differences' }).getByRole('listitem')).toHaveCount(2);
  await expect(page.getByText('1 account could not be read in full.')).toBeVisible();
  await scan('differences and unreachable accounts');
  await page.setViewportSize({ width: 390, height: 844 });
  const button = row.getByRole('button', { name: /^Close PEPE/ });
  await button.scrollIntoViewIfNeeded();
  // All of it but a rounding of its edge.
  await expect(button).toBeInViewport({ ratio: 0.95 });
  const sideways = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
  expect(await page.evaluate(sideways), 'nothing is scrolled sideways').toBe(0);
});
