// @vitest-environment jsdom
import { Blob } from 'node:buffer';
import { act } from '@testing-library/react';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { testEveryCase } from '#test/app/in-turn.ts';
import {
  alertOf,
  alerts,
  type Call,
  chosen,
  dialog,
  eventually,
  expectGone,
  expectToast,
  failure,
  first,
  held,
  isDisabled,
  PENDING,
  page,
  recorded,
  renderApp,
  rowOf,
  rowsOf,
  savedFiles,
  scopeOf,
} from '#test/web/render-app.tsx';

const LOGS = 'GET /api/price-logs';
const SIGNALS = 'GET /api/signals';
const log = first(recorded[LOGS].priceLogs);
const answerOf = (...priceLogs: object[]) => ({ priceLogs, total: priceLogs.length });

/** Answers pages of the requested size. */
const pagesOf = (total: number) => (call: Call) => {
  const limit = Number(call.query.limit ?? 100);
  const start = (Number(call.query.page ?? 1) - 1) * limit;
  const length = Math.max(0, Math.min(limit, total - start));
  // The screen gets one row per page, because drawing a hundred would be slow.
  const rows = limit === 100 ? Math.min(length, 1) : length;
  return { priceLogs: Array.from({ length: rows }, (_, at) => ({ ...log, id: `log-${start + at}` })), total };
};

describe('the price logs', () => {
  // Requirements: price-logs-4, price-logs-6, price-logs-9, price-logs-11
  test('have eleven columns in order, and say when there are no parameters', async () => {
    const { parameters: _left, ...absent } = { ...log, id: 'absent' };
    renderApp('/price-logs', {
      [LOGS]: answerOf({ ...log, id: 'empty', parameters: {} }, absent, {
        ...log,
        id: 'null',
        parameters: null,
      }),
    });
    await eventually(() => expect(rowsOf('Price Logs')).toHaveLength(3));
    for (const row of rowsOf('Price Logs')) expect(row.textContent).toContain('No parameters available');
    expect(page().queryByRole('button', { name: /^View/ })).toBeNull();
    expect(page().queryByRole('navigation', { name: 'Pagination' })).toBeNull();
    expect(
      page()
        .getAllByRole('columnheader')
        .map((header) => header.textContent),
    ).toEqual([
      'ID',
      'Token',
      'Timeframe',
      'Price',
      'Currency',
      'Original Time (TradingView)',
      'Candle Time (Server TZ)',
      'Received At (Server TZ)',
      'Source',
      'Hash Value',
      'Parameters',
    ]);
    const text = page().getByRole('main').textContent;
    for (const legend of [
      "The candle's time as the charting platform sent it",
      'The same moment in the display time zone',
      'When the webhook call arrived. A delay of 15-30 minutes is expected for webhook calls.',
    ]) {
      expect(text).toContain(legend);
    }
  });

  // Requirements: price-logs-1, price-logs-5, price-logs-8
  test('show their figures and their parameters', async () => {
    const app = renderApp('/price-logs', {
      [LOGS]: answerOf({
        ...log,
        token: 'BTC',
        price: '1234.5',
        candleTimeTradingview: '202601020304',
        candleTimeServer: '2026-01-02T03:04:00.000Z',
      }),
    });
    const row = await rowOf('Price Logs', 'BTC');
    // 03:04 UTC is the previous evening in Los Angeles.
    for (const text of ['$1,234.50', 'USDT', '202601020304', '2026/01/01 19:04:00', '127.0.0.1']) {
      expect(row.element.textContent).toContain(text);
    }
    expect(row.getAllByRole('cell')[9]?.textContent).toMatch(/^[0-9a-f]{16}…$/);
    await app.user.click(row.getByRole('button', { name: /^View, parameters of/ }));
    expect((await dialog('Parameters of BTC')).element.textContent).toContain('"mature_trend": "up"');
  });

  // Requirements: price-logs-2, trading-validation-15
  test('have filters with an "All" choice, and say when nothing matches', async () => {
    const app = renderApp('/price-logs?token=ETH&timeframe=15&processor=Nobody&page=2', {
      [LOGS]: pagesOf(101),
    });
    await eventually(() => expect(rowsOf('Price Logs')).toHaveLength(1));
    const select = (label: string) => page().getByLabelText(label);
    for (const [label, all] of [
      ['Token', 'All tokens'],
      ['Timeframe', 'All timeframes'],
      ['Processor', 'All processors'],
    ] as const) {
      expect(select(label).querySelector('option')?.textContent).toBe(all);
    }
    expect(chosen(select('Timeframe'))).toBe('15m');
    await app.user.selectOptions(select('Processor'), 'All processors');
    await eventually(() => expect(app.address()).toBe('/price-logs?token=ETH&timeframe=15'));
    app.answers[LOGS] = answerOf();
    await app.user.selectOptions(select('Timeframe'), 'All timeframes');
    await page().findByText('No price logs found');
    await app.user.selectOptions(select('Token'), 'All tokens');
    await eventually(() => expect(app.address()).toBe('/price-logs'));
    expect(app.sent(LOGS).at(-1)?.query).not.toHaveProperty('token');
  });

  // Requirements: price-logs-9, trading-validation-15, trading-constants-1
  test('have buttons for pages 1 to 5, and name a later page beside the entries', async () => {
    const app = renderApp('/price-logs', { [LOGS]: pagesOf(601) });
    const pager = scopeOf(await page().findByRole('navigation', { name: 'Pagination' }));
    const current = () => pager.element.querySelector('[aria-current="page"]')?.textContent;
    const press = async (name: string, entries: string) => {
      await app.user.click(pager.getByRole('button', { name }));
      await eventually(() =>
        expect(pager.element.textContent).toContain(`Showing ${entries} of 601 entries`),
      );
      expect(pager.getAllByRole('button').map((button) => button.textContent)).toEqual([
        'Previous',
        '1',
        '2',
        '3',
        '4',
        '5',
        'Next',
      ]);
    };
    expect(pager.element.textContent).toContain('Showing 1 to 100 of 601 entries');
    expect(isDisabled(pager.getByRole('button', { name: 'Previous' }))).toBe(true);
    expect(current()).toBe('1');
    await press('Page 5', '401 to 500');
    expect(current()).toBe('5');
    await press('Next', '501 to 600');
    expect(current()).toBe('Page 6 of 7');
    await press('Next', '601 to 601');
    expect(isDisabled(pager.getByRole('button', { name: 'Next' }))).toBe(true);
    await press('Page 2', '101 to 200');
    expect(current()).toBe('2');
  });

  // Requirements: price-logs-10
  test('redirect from a page beyond the last one to the last page', async () => {
    const app = renderApp('/price-logs?token=ETH&page=99', { [LOGS]: pagesOf(101) });
    const pushed = vi.spyOn(history, 'pushState');
    await eventually(() => expect(app.address()).toBe('/price-logs?token=ETH&page=2'));
    await page().findByText('Showing 101 to 101 of 101 entries');
    expect(pushed).not.toHaveBeenCalled();
    pushed.mockRestore();
  });

  // Requirements: price-logs-12, trading-calls-15
  test('and the environment status are fetched again every 30 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const pass = (ms: number) => act(() => vi.advanceTimersByTimeAsync(ms));
    const app = renderApp('/price-logs', { [LOGS]: answerOf(log) });
    const asked = () => [LOGS, 'GET /api/environment/status'].map((call) => app.sent(call).length);
    while (rowsOf('Price Logs').length === 0) await pass(100);
    const before = asked();
    await pass(29_000);
    expect(asked()).toEqual(before);
    await pass(2000);
    expect(asked()).toEqual(before.map((count) => count + 1));
  });

  // Requirements: price-logs-7
  test('start with ten skeletons', async () => {
    const loading = held(answerOf({ ...log }));
    renderApp('/price-logs', { [LOGS]: loading.promise });
    const table = await page().findByRole('table', { name: 'Price Logs' });
    expect(table.querySelectorAll('tbody tr[aria-hidden]')).toHaveLength(10);
    loading.release();
    await eventually(() => expect(rowsOf('Price Logs')).toHaveLength(1));
  });
});

describe('an export', () => {
  const start = async (app: ReturnType<typeof renderApp>) =>
    await app.user.click(await page().findByRole('button', { name: 'Export CSV' }));
  const linesOf = async () => (await savedFiles[0]?.blob.text())?.trimEnd().split('\r\n') ?? [];

  // Requirements: trading-validation-12
  test.for([
    ['/signals', SIGNALS, { signals: [], total: 0 }],
    ['/price-logs', LOGS, answerOf()],
  ] as const)('reports in a browser alert when %s matches nothing', async ([path, call, answer]) => {
    const app = renderApp(path, { [call]: answer });
    await start(app);
    await eventually(() => expect(alerts).toEqual(['No data to export']));
    expect(page().queryByRole('dialog')).toBeNull();
    expect(savedFiles).toEqual([]);
  });

  // Requirements: additions-export-1
  testEveryCase('shows progress, can be cancelled, and saves nothing when a page fails', async () => {
    let second: unknown = PENDING;
    const app = renderApp('/price-logs', {
      [LOGS]: (call: Call) =>
        call.query.limit === '1000' && call.query.page === '2' ? second : pagesOf(1100)(call),
    });
    await start(app);
    const progress = await dialog('Export CSV');
    await progress.findByText('1,000 of 1,100 rows');
    expect(progress.getByRole('progressbar', { name: 'Rows fetched' }).getAttribute('aria-valuenow')).toMatch(
      /^90/,
    );
    await app.user.click(progress.getByRole('button', { name: 'Cancel' }));
    await expectGone(() => page().queryByRole('dialog'));

    second = failure(500, 'Internal server error');
    await start(app);
    const failed = await alertOf('Failed to fetch price logs');
    expect(failed.element.textContent).toContain('500: {"message":"Internal server error"}');
    expect(savedFiles).toEqual([]);
    second = pagesOf(1100)({ key: LOGS, query: { page: '2', limit: '1000' }, body: undefined });
    await app.user.click(failed.getByRole('button', { name: 'Try again' }));
    await expectToast('CSV Exported', /^CSV Exported1,100 rows in price-logs-\d{4}-\d\d-\d\d\.csv/);
    expect(await linesOf()).toHaveLength(1101);
  });

  // Requirements: signals-the-table-3, additions-export-1
  test('of signals has the rows of all pages, with full prices and all times in one format', async () => {
    const [signal] = recorded[SIGNALS].signals;
    const app = renderApp('/signals?page=2', {
      [SIGNALS]: ({ query }: Call) => ({
        signals: Array.from({ length: query.page === '2' ? 1 : 1000 }, (_, at) => ({
          ...signal,
          id: `${query.page ?? 1}-${at}`,
          action: 'sell',
          price: '0.00001234',
        })),
        total: 1001,
      }),
    });
    await start(app);
    await expectToast('CSV Exported', /1,001 rows in signals-\d{4}-\d\d-\d\d\.csv/);
    const [header = '', ...lines] = await linesOf();
    expect(header).toMatch(/^\uFEFF?ID,Token,Position,Price,/);
    expect(new Set(lines.map((line) => line.split(',')[0])).size).toBe(1001);
    expect(lines[0]).toContain(',ETH,Sell,0.00001234,USDT,2955,3090,15m,');
    // The original time has the same format as other times, not the format that the platform sent.
    expect(lines[0]).toContain(',15m,2026/11/23 20:54:50,2026/11/23 20:54:50,2026/11/23 20:54:50,Tesla,');
  });

  // Requirements: additions-export-2
  testEveryCase('says which rows it contains when one file cannot hold them all', async () => {
    const fullPage = ({ query }: Call) => {
      const rows = Array.from({ length: 1000 }, (_, at) => ({
        id: `${query.page}-${at}`,
        receivedAt: log.receivedAt,
      }));
      return { priceLogs: rows, total: 123_456 };
    };
    const app = renderApp('/price-logs', {
      [LOGS]: (call: Call) => (call.query.limit === '1000' ? fullPage(call) : answerOf({ ...log })),
    });
    // jsdom's own takes seconds for a file of this size.
    vi.stubGlobal('Blob', Blob);
    await start(app);
    const cut = await dialog('Export CSV');
    await cut.findByText('The newest 100,000 of 123,456 rows were exported.');
    expect(cut.element.textContent).toContain('A file takes 100,000 rows, the newest of 123,456.');
    expect(cut.element.textContent).toContain('Narrow the filters to export the others.');
    expect(await linesOf()).toHaveLength(100_001);
    await app.user.click(cut.getByRole('button', { name: 'Close' }));
    await expectGone(() => page().queryByRole('dialog'));
  });
});
