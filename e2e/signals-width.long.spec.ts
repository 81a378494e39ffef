import { expect, test } from './fixtures.ts';
import { uniqueToken } from './unique.ts';

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1280, height: 800 },
  { width: 1024, height: 768 },
] as const;
/** What is said first about a signal, in any width. */
const KEPT = ['Token', 'Position', 'Price', 'Receive Time', 'Status', 'Trades', 'Users', 'Actions'];

// Requirements: additions-lists-3, additions-panel-1
test('a traded signal fits into every window, with its panel open and closed', async ({ page, operator }) => {
  const token = uniqueToken();
  await operator.createUser({
    settings: { positionSizingMethod: 'Portfolio Allocation' },
    activeTrading: true,
  });
  const platform = await operator.platform();
  await platform.candle({ Symbol: `${token}USDT`, Close: '60000', ATR: '600' });
  await platform.signal({ symbol: `${token}USDT`, price: '60000' });
  const table = page.getByRole('region', { name: 'Signal History' });
  const panel = page.getByLabel(new RegExp(`^${token} Buy, `));
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await page.goto(`/signals?token=${token}`);
    // Users of other tests trade, too.
    await expect(table).toContainText(/Filled \d\/\d/);
    for (const isOpen of [false, true]) {
      const where = `${size.width} pixels, panel ${isOpen ? 'open' : 'closed'}`;
      if (isOpen) {
        await page.keyboard.press('j');
        await expect(panel).toContainText('What became of each user');
      }
      expect(await table.evaluate((region) => region.scrollWidth - region.clientWidth), where).toBe(0);
      const heads = await table
        .getByRole('columnheader', { includeHidden: true })
        .evaluateAll((all) =>
          all.filter((head) => head.getClientRects().length > 0).map((head) => head.textContent ?? ''),
        );
      expect(heads, where).toEqual(expect.arrayContaining(KEPT));
      // At 1,440 pixels all columns of the list are there while the panel is closed.
      if (!isOpen && size.width === 1440) expect(heads).toHaveLength(14);
      if (isOpen && size.width >= 1280) {
        const [left, right] = [await table.boundingBox(), await panel.boundingBox()];
        expect((left?.x ?? 0) + (left?.width ?? 0), where).toBeLessThanOrEqual(right?.x ?? 0);
      }
    }
  }
});

// Requirements: additions-lists-7
test('twenty signals take at most six screens of a phone', async ({ page, operator }) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  for (let number = 0; number < 20; number += 1) {
    await platform.signal({ symbol: `${token}USDT`, price: `${60_000 + number}` });
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`/signals?token=${token}`);
  await expect(page.getByRole('list', { name: 'Signal History' }).getByRole('listitem')).toHaveCount(20);
  expect(await page.evaluate(() => document.documentElement.scrollHeight / 844)).toBeLessThanOrEqual(6);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
});
