import { readFile } from 'node:fs/promises';
import type { Download, Page } from '@playwright/test';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { dialog, expectToast, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

test.use({ serverEnv: { ...DEVELOPMENT, WEBHOOK_RATE_LIMIT: '0' } });

const exportButton = (page: Page) => page.getByRole('button', { name: 'Export CSV' });

async function download(page: Page): Promise<Download> {
  const started = page.waitForEvent('download');
  await exportButton(page).click();
  return await started;
}

const textOf = async (file: Download) => await readFile(await file.path(), 'utf8');
const linesOf = (text: string) => text.trimEnd().split('\r\n');

/** yyyy-MM-dd in the display time zone of the server. */
const today = () =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Los_Angeles', dateStyle: 'short' }).format(
    new Date(),
  );

// Requirements: price-logs-3, trading-calls-28, additions-export-3
test('the price logs that the filters match are saved, in full and safe from formulas', async ({
  page,
  operator,
  signIn,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  const DateTime = '202601020304';
  const note = '=HYPERLINK("http://example.com")';
  await platform.candle({
    Symbol: `${token}USDT`,
    Close: '0.00000123',
    DateTime,
    Timeframe: '60',
    processor: note,
  });
  await platform.candle({ Symbol: `${token}USDT`, Close: '2', MACD: '-12.3', Timeframe: '15' });
  await platform.candle({ Symbol: `${uniqueToken()}USDT`, Close: '3' });
  await signIn(page);
  await page.goto(`/price-logs?token=${token}`);
  await expect(tableRows(page, 'Price Logs')).toHaveCount(2);
  const file = await download(page);
  expect(file.suggestedFilename()).toBe(`price-logs-${today()}.csv`);
  const text = await textOf(file);
  expect(
    text.startsWith('\ufeffID,Token,Timeframe,Price,Currency,Processor,Original Time (TradingView),'),
  ).toBe(true);
  const [, newer = '', older = '', ...more] = linesOf(text);
  expect(more).toEqual([]);
  expect(newer).toContain(`,${token},15m,2,USDT,,`);
  expect(newer).toContain('""MACD"":""-12.3""');
  // 03:04 in UTC is the evening before in Los Angeles.
  expect(older).toContain(
    `,${token},60m,0.00000123,USDT,"'=HYPERLINK(""http://example.com"")",${DateTime},2026/01/01 19:04:00,`,
  );
  expect(older).toMatch(/,127\.0\.0\.1,[0-9a-f]{64},"\{""/);
  await expectToast(page, { title: 'CSV Exported', text: `2 rows in ${file.suggestedFilename()}` });
});

// Requirements: signals-the-table-3, trading-calls-28, additions-export-1
test('the signals of all pages are saved, and those that arrive meanwhile do not move them', async ({
  page,
  operator,
  signIn,
}) => {
  const [token, processor] = [uniqueToken(), uniqueName('robot')];
  const platform = await operator.platform();
  const post = (index: number) =>
    platform.signal({ symbol: `${token}USDT`, price: String(1 + index), action: 'sell', processor });
  for (let start = 0; start < 1100; start += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, index) => post(start + index)));
  }
  await signIn(page);
  await page.goto(`/signals?token=${token}&page=3`);
  await expect(page.getByText('Showing 100 of 1,100 signals')).toBeVisible();
  await page.route('**/api/signals?page=2&limit=1000&*', async (route) => {
    await Promise.all([post(2000), post(2001), post(2002)]);
    await route.continue();
  });
  const file = await download(page);
  expect(file.suggestedFilename()).toBe(`signals-${today()}.csv`);
  const [header = '', ...lines] = linesOf(await textOf(file));
  const priceColumn = header.split(',').indexOf('Price');
  const prices = lines.map((line) => Number(line.split(',')[priceColumn])).sort((a, b) => a - b);
  expect(prices).toEqual(Array.from({ length: 1100 }, (_, index) => 1 + index));
  expect(lines[0]).toContain(`,${token},Sell,`);
  // The original time as every other one, and not as the platform wrote it.
  expect(lines[0]).toMatch(/,15m,\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d,\d{4}\/\d\d\/\d\d /);
});

// Requirements: trading-validation-12
test('nothing that matches is said in an alert of the browser, and nothing is saved', async ({
  page,
  signIn,
}) => {
  const [alerts, downloads]: [string[], string[]] = [[], []];
  page.on('dialog', async (alert) => {
    alerts.push(alert.message());
    await alert.accept();
  });
  page.on('download', (file) => downloads.push(file.suggestedFilename()));
  await signIn(page);
  for (const [index, path] of ['/signals', '/price-logs'].entries()) {
    await page.goto(`${path}?token=NOSUCHTOKEN`);
    await exportButton(page).click();
    await expect.poll(() => alerts).toEqual(Array(index + 1).fill('No data to export'));
    await expect(dialog(page, 'Export CSV')).toHaveCount(0);
  }
  expect(downloads).toEqual([]);
});

// Requirements: additions-export-1
test('an export can be followed and cancelled, and a page that fails is said, with nothing saved', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const token = uniqueToken();
  const platform = await operator.platform();
  for (let start = 0; start < 1100; start += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        platform.candle({ Symbol: `${token}USDT`, Close: String(start + index + 1) }),
      ),
    );
  }
  const downloads: string[] = [];
  page.on('download', (file) => downloads.push(file.suggestedFilename()));
  await signIn(page);
  await page.goto(`/price-logs?token=${token}`);
  const second = '**/api/price-logs?page=2&limit=1000&*';
  // Never answered.
  await page.route(second, () => {});
  await exportButton(page).click();
  const progress = dialog(page, 'Export CSV');
  await expect(progress).toContainText('1,000 of 1,100 rows');
  await expect(progress.getByRole('progressbar', { name: 'Rows fetched' })).toHaveAttribute(
    'aria-valuenow',
    /^90/,
  );
  await progress.getByRole('button', { name: 'Cancel' }).click();
  await expect(progress).toBeHidden();
  await page.unroute(second);
  await expect(exportButton(page)).toBeEnabled();

  expectFailure({ path: '/api/price-logs', status: 500 });
  await page.route(second, (route) =>
    route.fulfill({ status: 500, json: { message: 'Internal server error' } }),
  );
  await exportButton(page).click();
  await expect(progress.getByRole('alert')).toContainText('Failed to fetch price logs');
  await expect(progress.getByRole('alert')).toContainText('500: {"message":"Internal server error"}');
  expect(downloads).toEqual([]);

  await page.unroute(second);
  const started = page.waitForEvent('download');
  await progress.getByRole('button', { name: 'Try again' }).click();
  expect(linesOf(await textOf(await started))).toHaveLength(1101);
  await expect(progress).toBeHidden();
});

// Requirements: additions-export-2
test('a file that cannot take all rows says which ones it has', async ({ page, operator, signIn }) => {
  const token = uniqueToken();
  await (await operator.platform()).candle({ Symbol: `${token}USDT`, Close: '1' });
  await signIn(page);
  await page.goto(`/price-logs?token=${token}`);
  await expect(tableRows(page, 'Price Logs')).toHaveCount(1);
  // A hundred full pages: more rows than a journey can post.
  await page.route('**/api/price-logs?page=*&limit=1000&*', async (route) => {
    const number = Number(new URL(route.request().url()).searchParams.get('page'));
    const log = { candleTimeTradingview: '', candleTimeServer: '', receivedAt: '2026-01-02T03:04:05.000Z' };
    const priceLogs = Array.from({ length: 1000 }, (_, index) => ({
      ...log,
      id: `${number}-${index}`,
      token,
      timeframe: '15',
      price: '1',
      currency: 'USDT',
      processor: null,
      sourceIp: '127.0.0.1',
      hashValue: '',
      parameters: {},
    }));
    await route.fulfill({ json: { priceLogs, total: 123_456 } });
  });
  const file = await download(page);
  expect(linesOf(await textOf(file))).toHaveLength(100_001);
  const cut = dialog(page, 'Export CSV');
  await expect(cut).toContainText('The newest 100,000 of 123,456 rows were exported.');
  await expect(cut).toContainText('Narrow the filters to export the others.');
  await cut.getByRole('button', { name: 'Close', exact: true }).click();
  await expect(cut).toBeHidden();
});
