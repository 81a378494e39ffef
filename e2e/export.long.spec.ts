import { readFile } from 'node:fs/promises';
import type { Download, Page } from '@playwright/test';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { expectToast, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

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
test('exports all price logs that match the filters, safe from formula injection', async ({
  page,
  operator,
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
  // 03:04 UTC is the previous evening in Los Angeles.
  expect(older).toContain(
    `,${token},60m,0.00000123,USDT,"'=HYPERLINK(""http://example.com"")",${DateTime},2026/01/01 19:04:00,`,
  );
  expect(older).toMatch(/,127\.0\.0\.1,[0-9a-f]{64},"\{""/);
  await expectToast(page, { title: 'CSV Exported', text: `2 rows in ${file.suggestedFilename()}` });
});
