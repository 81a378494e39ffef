import type { Page } from '@playwright/test';
import { simulateHistory } from '#demo/history.ts';
import { type ProgramClient, signIn } from '#demo/program-client.ts';
import { writeHistory } from '#demo/write-history.ts';
import { expect, test } from './fixtures.ts';
import type { ManagedServer } from './managed-server.ts';
import type { Operator } from './operator.ts';
import { pageTitle } from './screen.ts';

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1280, height: 800 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
] as const;

/** By path: what the page shows once its data is there. */
const PAGES: [path: string, title: string | RegExp, shows: RegExp][] = [
  ['/', /^Welcome, /, /Fill rate/],
  ['/signals', 'Trading Signals', /of \d+ signals/],
  ['/positions', 'Positions', /Closes .* R\)/],
  ['/performance', 'Performance', /Distribution of R/],
  ['/strategies', 'Strategies', /Close 50 % at 1 R/],
  ['/create-client', 'Users', /barbara@example.com/],
  ['/configuration', 'Webhook Configuration', /Stored/],
  ['/alerts', 'Alerts', /No channels/],
  ['/settings', 'User Settings', /Trading settings/],
  ['/automation-workflows', 'Automation Workflows', /of \d+ workflows/],
  ['/position-maker', 'Position Maker System', /Worker Threads/],
  ['/price-logs', 'Price Logs', /BTC/],
  ['/audit', 'Audit', /Signed in/],
  ['/feeds', 'Feeds', /BTC/],
];

const LONG_STRATEGY = 'Mean Reversion of Large Caps v2, four hours, no weekends';

/** Six weeks of closed trades of four users, and an open position that follows an exit plan. */
async function fillPages(operator: Operator, client: ProgramClient, server: ManagedServer): Promise<void> {
  const platform = await operator.platform();
  for (const name of ['ada', 'grace', 'alan', 'barbara']) {
    await operator.createUser({
      username: `${name}@example.com`,
      firstName: 'Ada Augusta',
      lastName: 'Lovelace-Byron',
      settings: { positionSizingMethod: 'Portfolio Allocation', signalProcessor: 'Tesla' },
      activeTrading: true,
    });
  }
  // The widest row: a long name, an administrator, a telephone, switched off and stopped.
  const widest = await operator.createUser({
    username: 'leigh.montgomery.trading.accounts@example.com',
    firstName: 'Leigh Alexandra',
    lastName: 'Montgomery-Fitzgerald',
    countryCode: '+1',
    mobileNumber: '5551234567',
    isAdmin: true,
    settings: { positionSizingMethod: 'Portfolio Allocation', signalProcessor: 'Tesla' },
  });
  await client.post('/api/trading-stops', { scope: { kind: 'user', value: widest.id } });
  // The widest row of Audit: a long name does something about itself.
  const own = await signIn({ url: server.url, ...widest });
  await own.post('/api/trading-stops', { scope: { kind: 'user', value: widest.id }, reason: 'on holiday' });
  const now = new Date();
  const signals = simulateHistory({ seed: 'widths', now }).map((signal, index) => {
    if (index % 9 === 0) return { ...signal, processor: LONG_STRATEGY };
    return index % 9 === 1 ? { ...signal, processor: `Strategy ${index % 25}` } : signal;
  });
  await writeHistory({ dataDir: server.dataDir, signals, now, timeZone: 'America/Los_Angeles' });
  // Tesla's for its position; the other one's card is whole on a phone, too.
  for (const strategy of ['Tesla', LONG_STRATEGY]) {
    await client.put(`/api/exit-plans/strategies/${encodeURIComponent(strategy)}`, {
      takeProfits: [{ atR: '1', percent: 50 }],
      breakEvenAtR: '1',
      trail: { atrMultiple: '2' },
      maxHoldingMinutes: 240,
    });
  }
  const trends = { immediate_trend: 'bullish', mature_trend: 'bullish' };
  await platform.candle({ Symbol: 'BTCUSDT', Close: '67123.4', ATR: '600', ...trends });
  const signal = await operator.postSignal({ symbol: 'BTCUSDT', price: '67123.4', processor: 'Tesla' });
  expect(signal.successfulTrades).toBe(4);
}

/** Parts that are wider than what they show, and the page itself. Filters scroll sideways on a phone, as intended. */
const tooWide = (page: Page) =>
  page.evaluate(() => {
    const parts = [...document.querySelectorAll('main section, main [role="region"], main table, main dd')]
      .filter((part) => part.getClientRects().length > 0 && part.scrollWidth - part.clientWidth > 1)
      .map((part) => `${part.getAttribute('aria-label') ?? part.textContent} is cut`);
    const beyond = document.documentElement.scrollWidth - innerWidth;
    return beyond > 0 ? [...parts, `the page is ${beyond} pixels too wide`] : parts;
  });

/** Height in screens as if each list had at most 20 rows, unless it scrolls by itself. */
const screensOfTwentyRows = (page: Page) =>
  page.evaluate(() => {
    const scrolls = (part: Element | null): boolean =>
      part !== null &&
      part.tagName !== 'MAIN' &&
      (/auto|scroll/.test(getComputedStyle(part).overflowY) && part.scrollHeight - part.clientHeight > 1
        ? true
        : scrolls(part.parentElement));
    let height = document.documentElement.scrollHeight;
    for (const list of document.querySelectorAll('main tbody, main ul[aria-label]')) {
      const rows = [...list.children].filter((row) => row.getClientRects().length > 0);
      if (rows.length <= 20 || scrolls(list)) continue;
      const boxes = rows.map((row) => row.getBoundingClientRect());
      const tall = Math.max(...boxes.map((box) => box.bottom)) - Math.min(...boxes.map((box) => box.top));
      height -= tall * (1 - 20 / rows.length);
    }
    return height / innerHeight;
  });

// Requirements: additions-lists-3, additions-lists-7
test('every page shows its rows whole in every window, and 20 of them on six screens of a phone', async ({
  page,
  operator,
  administrator,
  server,
}) => {
  test.setTimeout(400_000);
  await fillPages(operator, await administrator(), server);
  // All faults are named, not only the first.
  const eventually = expect.configure({ soft: true });
  for (const [path, title, shows] of PAGES) {
    await page.setViewportSize(SIZES[0]);
    await page.goto(path);
    await expect(pageTitle(page, title)).toBeVisible();
    await expect(page.getByText(shows).filter({ visible: true }).first()).toBeVisible();
    for (const size of SIZES) {
      await page.setViewportSize(size);
      // A phone shows other elements: what the page shows is there again.
      await expect(page.getByText(shows).filter({ visible: true }).first()).toBeVisible();
      // The page follows a moment after its window.
      await eventually.poll(() => tooWide(page), { message: `${path} at ${size.width}` }).toEqual([]);
    }
    await eventually
      .poll(() => screensOfTwentyRows(page), { message: `screens of a phone that ${path} takes` })
      .toBeLessThanOrEqual(6);
  }
});
