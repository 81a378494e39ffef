import type { Page } from '@playwright/test';
import { expect, TOKYO, test } from './fixtures.ts';
import { dialog, signOut } from './screen.ts';
import { stopTime } from './stopped-time.ts';

test.use({ serverEnv: TOKYO });

/** The badge for each status answer. Only colours are checked here; a component test covers the rest. */
const LOOKS = [
  { status: {}, badge: 'Live Trading', mode: 'Paper', hue: 'green' },
  { status: { exchangeMode: 'live' }, badge: 'Live Trading', mode: 'Live', hue: 'green' },
  {
    status: { exchangeMode: 'demo', autoTradeEnabled: false },
    badge: 'PROD (Manual)',
    mode: 'Demo',
    hue: 'yellow',
  },
  {
    status: { environment: 'development', isProduction: false, autoTradeEnabled: false },
    badge: 'Dev Mode',
    mode: 'Paper',
    hue: 'dark yellow',
  },
  {
    status: { environment: 'unknown', isProduction: false, autoTradeEnabled: false },
    badge: 'UNKNOWN',
    mode: 'Paper',
    hue: 'red',
  },
] as const;

type Colour = [red: number, green: number, blue: number];
const HUES = {
  green: ([red, green, blue]: Colour) => green > red && green > blue,
  yellow: ([red, green, blue]: Colour) => red > 200 && green > 150 && blue < green / 2,
  'dark yellow': ([red, green, blue]: Colour) => red > green && red < 200 && green > 100 && blue < green / 2,
  red: ([red, green, blue]: Colour) => red > 2 * green && red > 2 * blue,
};

const banner = (page: Page) => page.getByRole('banner');
const badgeOf = (page: Page, label: string) => banner(page).getByRole('button', { name: label, exact: true });
const details = (page: Page) => dialog(page, 'System Environment Details');

// Requirements: screens-environment-1, screens-environment-2, screens-environment-3, screens-environment-4
test('the badge and its dialog show the environment, each state in its colour', async ({ page, scan }) => {
  const real = await (await page.request.get('/api/environment/status')).json();
  let answer = real;
  await page.route('**/api/environment/status', (route) => route.fulfill({ json: answer }));
  for (const { status, badge: label, mode, hue } of LOOKS) {
    answer = { ...real, ...status };
    await page.goto('/webhook');
    const badge = badgeOf(page, label);
    await expect(badge).toBeVisible();
    const [red = 0, green = 0, blue = 0] = await badge
      .locator('span')
      .first()
      .evaluate((dot) => Array.from(getComputedStyle(dot).backgroundColor.matchAll(/\d+/g), Number));
    expect(HUES[hue]([red, green, blue]), `rgb(${red}, ${green}, ${blue})`).toBe(true);
    await expect(banner(page).getByText(mode, { exact: true })).toBeVisible();
    // Only live mode has the line along the top.
    const line = await banner(page)
      .locator('> div')
      .last()
      .evaluate((bar) => getComputedStyle(bar).borderTopWidth);
    expect(line).toBe(mode === 'Live' ? '4px' : '0px');
    await badge.click();
    await expect(details(page)).toContainText('Auto-refreshes every 30 seconds');
    await scan(label);
  }
});

// Requirements: screens-environment-3, accounts-calls-19, accounts-limits-2, settings-of-the-program-11
test('the status is refetched every 30 seconds, also under an open dialog, but not after signing out', async ({
  page,
  server,
  expectFailure,
  signIn,
}) => {
  await page.clock.install();
  // This test signs out, so it has a session of its own.
  await signIn(page);
  await page.goto('/');
  await expect(badgeOf(page, 'Live Trading')).toBeVisible();
  const { calls, pass } = await stopTime(page, '/api/environment/status');
  await pass(100);
  expect(calls.length).toBeGreaterThanOrEqual(2);
  // The 30 seconds start when the page processes the answer, a second or two after its arrival; a call may be seen a
  // second late.
  for (const [index, second] of calls.slice(1).entries()) {
    expect(second - (calls[index] ?? 0)).toBeGreaterThanOrEqual(29);
    expect(second - (calls[index] ?? 0)).toBeLessThan(40);
  }

  await badgeOf(page, 'Live Trading').click();
  const updated = details(page).getByText(/^Last updated: /);
  await expect(async () => {
    await pass(1);
    await expect(updated).toBeVisible({ timeout: 200 });
  }).toPass();
  const answered = page.waitForResponse('**/api/environment/status');
  const before = calls.length;
  await pass(40);
  expect(calls.length).toBeGreaterThan(before);
  const { timestamp } = (await (await answered).json()) as { timestamp: string };
  await expect(updated).toHaveText(`Last updated: ${inTokyo(timestamp)}`);

  await page.keyboard.press('Escape');
  await pass(1);
  await expect(details(page)).toBeHidden();
  // Calls triggered by the skipped hour may arrive after the session has ended.
  expectFailure({ path: '/api/my-positions', status: 401 });
  await page.clock.resume();
  await signOut(page, server.adminUsername);
  const after = calls.length;
  await pass(100);
  expect(calls.length).toBe(after);
});

/** Tokyo is always UTC+9: it has had no summer time since 1951. */
const inTokyo = (instant: string) =>
  new Date(Date.parse(instant) + 9 * 3_600_000)
    .toISOString()
    .slice(0, 19)
    .replaceAll('-', '/')
    .replace('T', ' ');

// Requirements: accounts-messages-16
test('a status that can no longer be fetched stays on screen, and the badge reports the failure', async ({
  page,
  expectFailure,
}) => {
  expectFailure({ path: '/api/environment/status', status: 'network' });
  await page.clock.install();
  await page.goto('/');
  const badge = badgeOf(page, 'Live Trading');
  await expect(badge).toBeVisible();
  await page.route('**/api/environment/status', (route) => route.abort());
  await badge.hover();
  const tip = page.getByRole('tooltip');
  // An answer still in flight restarts the 30 seconds.
  await expect(async () => {
    await page.clock.fastForward(30_000);
    await expect(tip).toContainText('Failed to fetch environment status', { timeout: 2_000 });
  }).toPass();
  await expect(tip).toContainText('Environment: PRODUCTION');
});
