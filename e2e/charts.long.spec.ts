import type { Page } from '@playwright/test';
import type { ChartingPlatform } from './charting-platform.ts';
import { expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { closeDialog, dialog, tableRow, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

const QUARTER_MS = 900_000;
const NO_CANDLES = 'No candles for this token and timeframe';

/** Fifteen-minute bars up to now, one for each price. */
async function postCandles(platform: ChartingPlatform, token: string, prices: number[], fields = {}) {
  for (const [index, price] of prices.entries()) {
    const time = new Date(Date.now() - (prices.length - 1 - index) * QUARTER_MS);
    const answer = await platform.candle({
      Symbol: `${token}USDT`,
      DateTime: time.toISOString().slice(0, 16).replaceAll(/\D/g, ''),
      Open: (price * 0.999).toFixed(8),
      High: (price * 1.002).toFixed(8),
      Low: (price * 0.997).toFixed(8),
      Close: price.toFixed(8),
      ATR: (price * 0.01).toFixed(8),
      ...fields,
    });
    expect(answer.status).toBe(200);
  }
}

/** A trading user, SOL candles and a SOL signal: one filled order. */
async function tradeOnce(operator: Operator) {
  const processor = uniqueName('robot');
  const settings = { positionSizingMethod: 'Portfolio Allocation', signalProcessor: processor } as const;
  const user = await operator.createUser({ settings, activeTrading: true });
  const prices = Array.from({ length: 60 }, (_, index) => 150 + Math.sin(index / 5) / 2);
  await postCandles(await operator.platform(), 'SOL', [...prices, 150]);
  const signal = await operator.postSignal({ symbol: 'SOLUSDT', price: '150', processor });
  expect(signal.successfulTrades).toBeGreaterThan(0);
  return { signal, user };
}

const chartOf = (page: Page) => page.getByRole('img', { name: /candles? from/ });

/** The number of non-transparent pixels on the chart's canvases. */
const paintedPoints = (page: Page) =>
  chartOf(page)
    .locator('canvas')
    .evaluateAll((canvases) =>
      canvases.reduce((sum, canvas) => {
        if (!(canvas instanceof HTMLCanvasElement) || canvas.width === 0) return sum;
        const image = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height);
        return (
          sum + (image?.data.filter((_, index) => index % 4 === 3).filter((alpha) => alpha > 0).length ?? 0)
        );
      }, 0),
    );

/** The given chart colours that occur in the candle area, left of the labels that cover lines. */
const drawnColors = (page: Page, names: string[]) =>
  chartOf(page).evaluate((chart, wanted) => {
    const style = getComputedStyle(chart);
    const drawn = new Set<string>();
    for (const canvas of chart.querySelectorAll('canvas')) {
      // Skip the scales: their labels also name lines that are out of view.
      if (canvas.clientWidth < chart.clientWidth / 2 || canvas.clientHeight < chart.clientHeight / 2)
        continue;
      const { width, height } = canvas;
      const points = canvas.getContext('2d')?.getImageData(0, 0, width * 0.8, height).data ?? [];
      for (let at = 0; at < points.length; at += 4) {
        if (points[at + 3] !== 255) continue;
        const parts = [points[at], points[at + 1], points[at + 2]];
        drawn.add(`#${parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('')}`);
      }
    }
    return wanted.filter((name) => drawn.has(style.getPropertyValue(`--chart-${name}`).trim()));
  }, names);

// Requirements: additions-charts-1, additions-everywhere-1, additions-everywhere-3
test('the dialog of a traded signal shows its chart as picture, text and table in both schemes and every width', async ({
  page,
  operator,
  scan,
}) => {
  const { signal, user } = await tradeOnce(operator);
  await page.goto(`/signals?dialog=signal&signal=${signal.id}`);
  const details = dialog(page, 'Signal Details');
  const chart = chartOf(page);
  await expect(chart).toHaveAccessibleName(/^SOL 15m\. 61 candles from .* Last close 150\. Buy at 150 on /);
  const { stopLoss, takeProfit } = signal;
  await expect(chart).toHaveAccessibleName(
    new RegExp(`Entry [0-9.]+, Stop ${stopLoss}, Target ${takeProfit}\\. \\d+ fills?\\.$`),
  );
  // The target is in view although it lies beyond all candles.
  const colors = ['up', 'entry', 'stop', 'target'];
  await expect.poll(() => drawnColors(page, colors)).toEqual(colors);
  await expect(details.getByRole('link', { name: 'www.tradingview.com' })).toHaveAttribute(
    'href',
    'https://www.tradingview.com/',
  );
  // The content policy forbids inline style elements, so the library must not create any.
  await expect(page.locator('style')).toHaveCount(0);
  await scan('the chart of a signal');

  await details.getByRole('button', { name: 'Show as table' }).click();
  await expect(chart).toBeHidden();
  const candles = details.getByRole('table', { name: 'Candles of SOL 15m' });
  await expect(candles.getByRole('row')).toHaveCount(62);
  await expect(candles.getByRole('row').nth(1)).toContainText('150.3');
  const fills = details.getByRole('table', { name: 'Fills' });
  await expect(fills.getByRole('row').filter({ hasText: user.username })).toContainText('buy');
  await expect(details.getByRole('listitem').filter({ hasText: `Stop ${stopLoss}` })).toBeVisible();
  await scan('the table of candles');
  await details.getByRole('button', { name: 'Show as chart' }).click();
  await expect(chart).toBeVisible();

  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  await expect.poll(() => drawnColors(page, colors)).toEqual(colors);

  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await expect.poll(() => paintedPoints(page)).toBeGreaterThan(500);
  const box = await chart.boundingBox();
  expect(box?.x).toBeGreaterThanOrEqual(0);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
  const top = async () => (await chart.boundingBox())?.y ?? 0;
  const before = await top();
  await chart.hover();
  await page.mouse.wheel(0, 120);
  await expect.poll(top).toBeLessThan(before);
});

test('a signal without candles says so and shows its own data', async ({ page, operator }) => {
  const token = uniqueToken();
  const signal = await operator.postSignal({ symbol: `${token}USDT`, price: '0.00001234' });
  await page.goto(`/signals?dialog=signal&signal=${signal.id}`);
  const details = dialog(page, 'Signal Details');
  await expect(details).toContainText(NO_CANDLES);
  await expect(details).toContainText('Buy at 0.00001234 on ');
  // As many decimals as the price has.
  await expect(details).toContainText('$0.00001234');
});

test('shows the table when the code of the chart cannot be loaded', async ({
  page,
  operator,
  expectFailure,
}) => {
  expectFailure({ path: '/', status: 'network' });
  const token = uniqueToken();
  await postCandles(await operator.platform(), token, [10]);
  const signal = await operator.postSignal({ symbol: `${token}USDT`, price: '10' });
  const code = /\/assets\/candle-chart-drawing-[^/]+\.js$/;
  await page.route(code, (route) => route.abort());
  await page.goto(`/signals?dialog=signal&signal=${signal.id}`);
  const details = dialog(page, 'Signal Details');
  const failed = details.getByRole('alert').filter({ hasText: 'The chart could not be loaded' });
  await expect(failed).toBeVisible();
  await details.getByRole('button', { name: 'Show as table' }).click();
  await expect(details.getByRole('table', { name: `Candles of ${token} 15m` })).toContainText('9.99');
  await details.getByRole('button', { name: 'Show as chart' }).click();
  await expect(failed).toBeVisible();
  await page.unroute(code);
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => paintedPoints(page)).toBeGreaterThan(500);
});

// Requirements: additions-charts-2, additions-finding-keys-and-columns-1
test('a price log opens the chart around its candle and keeps it in the URL', async ({
  page,
  operator,
  server,
  scan,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  await postCandles(platform, token, [0.00001234, 0.00001241, 0.00001238]);
  await postCandles(platform, token, [5], { Timeframe: '60' });
  await page.goto(`/price-logs?token=${token}&timeframe=15`);
  await expect(tableRows(page, 'Price Logs')).toHaveCount(3);
  await tableRow(page, 'Price Logs', '15m')
    .nth(1)
    .getByRole('button', { name: /^Chart, candles around / })
    .click();
  const shown = dialog(page, `${token} 15m Chart`);
  await expect(chartOf(page)).toHaveAccessibleName(
    /3 candles from .* Last close 0\.00001238\. This candle at 0\.00001241 on /,
  );
  await expect.poll(() => paintedPoints(page)).toBeGreaterThan(500);
  await expect(page).toHaveURL(new RegExp(`token=${token}&timeframe=15&log=[0-9a-f-]{36}&dialog=chart$`));
  await scan('the chart of a price log');
  await page.reload();
  await expect(shown).toBeVisible();
  await expect(chartOf(page)).toBeVisible();
  await closeDialog(page, `${token} 15m Chart`);
  await expect(page).toHaveURL(`${server.url}/price-logs?token=${token}&timeframe=15`);
});

test('the chart of a price log stays open when newer rows push its row off the page', async ({
  page,
  operator,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  await postCandles(platform, token, [10]);
  await page.clock.install();
  await page.goto(`/price-logs?token=${token}`);
  await tableRows(page, 'Price Logs')
    .getByRole('button', { name: /^Chart, / })
    .click();
  await expect(chartOf(page)).toBeVisible();
  await postCandles(
    platform,
    token,
    Array.from({ length: 100 }, (_, index) => 20 + index),
  );
  await page.clock.fastForward(31_000);
  await expect(page.getByText('101 entries', { exact: true })).toBeVisible();
  await expect(chartOf(page)).toBeVisible();
});

// Requirements: additions-charts-4
test('shows signals per day beside the cards, each day with its count', async ({ page, operator }) => {
  await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await page.goto('/signals');
  const days = page.getByRole('img', {
    name: /signals? in the last 30 days, today \d+, most on \d{4}\/\d\d\/\d\d: \d+$/,
  });
  await expect(days).toBeVisible();
  await days.locator('g').last().hover();
  await expect(page.getByRole('tooltip')).toHaveText(/^\d{4}\/\d\d\/\d\d: \d+ signals?$/);
  await days.locator('g').first().hover();
  await expect(page.getByRole('tooltip')).toHaveText(/: 0 signals$/);
});
