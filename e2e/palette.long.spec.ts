import type { Page } from '@playwright/test';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { dialog } from './screen.ts';

test.use({ serverEnv: DEVELOPMENT });

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and go to' });
const field = (page: Page) => palette(page).getByRole('combobox', { name: 'Search' });
const options = (page: Page) => palette(page).getByRole('option');

async function open(page: Page) {
  await page.keyboard.press('Control+k');
  await expect(field(page)).toBeFocused();
}

// Requirements: additions-everywhere-1
test('palette, shortcut list and column menu have no serious axe finding', async ({
  page,
  operator,
  scan,
}) => {
  // The table contains every token and timeframe that has its own colour.
  const platform = await operator.platform();
  const tokens =
    'BTC ETH SOL SUI TON ADA XRP DOGE MATIC AVAX DOT LINK UNI LTC ATOM NEAR FTM ALGO OTHER'.split(' ');
  const timeframes = '1 2 5 15 30 1h 4h 1d 7'.split(' ');
  await Promise.all(
    tokens.map((token, index) =>
      platform.candle({ Symbol: `${token}USDT`, Timeframe: timeframes[index % timeframes.length] }),
    ),
  );
  await page.goto('/price-logs');
  await expect(page.getByRole('table', { name: 'Price Logs' })).toContainText('ALGO');
  await scan('badges');
  await page.getByRole('button', { name: 'Columns' }).click();
  await scan('the menu of columns');
  await page.keyboard.press('Escape');
  await open(page);
  await field(page).fill('s');
  await expect(options(page).filter({ hasText: /^Settings/ })).toBeVisible();
  await scan('the palette');
  await field(page).fill('no such thing');
  await scan('the palette without a result');
  await page.keyboard.press('Escape');
  await expect(palette(page)).toBeHidden();
  await page.keyboard.press('?');
  await expect(dialog(page, 'Keyboard Shortcuts')).toBeVisible();
  await scan('the list of keys');
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  // Requirements: additions-everywhere-3
  test('palette and column menu fit the screen', async ({ page }) => {
    // Rows of the other lists are cards of two lines there, without columns.
    await page.goto('/audit');
    await page.getByRole('button', { name: 'Columns' }).click();
    await expect(page.getByRole('menu', { name: 'Columns' })).toBeInViewport();
    const menu = await page.getByRole('menu', { name: 'Columns' }).boundingBox();
    expect(menu?.x).toBeGreaterThanOrEqual(0);
    expect((menu?.x ?? 0) + (menu?.width ?? 0)).toBeLessThanOrEqual(390);
    await page.keyboard.press('Escape');
    await open(page);
    const box = await palette(page).boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    await palette(page).getByRole('button', { name: 'Close dialog' }).click();
    await expect(palette(page)).toBeHidden();
  });
});
