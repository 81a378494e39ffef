import type { Page } from '@playwright/test';
import { seriousFindings } from './axe.ts';
import { expect, test } from './fixtures.ts';
import { dialog, signOut } from './screen.ts';
import { uniqueToken } from './unique.ts';

const INSTANCE_ID = 'the-instance-with-a-very-long-name';
const DISPLAY_TIMEZONE = 'Asia/Tokyo';

/** No exchange is reached from here: whoever calls one is refused at once. */
const NO_EXCHANGE = { BITGET_BASE_URL: 'http://127.0.0.1:9', BYBIT_BASE_URL: 'http://127.0.0.1:9' };

// Settings of its own: the server that these journeys leave behind is nobody else's.
test.use({ serverEnv: { INSTANCE_ID, DISPLAY_TIMEZONE } });

const LOOKS = [
  {
    name: 'production with automatic trading on paper',
    env: {},
    badge: 'Live Trading',
    colour: 'green',
    mode: 'Paper',
    facts: {
      Environment: 'PRODUCTION',
      'Node Environment': 'production',
      Deployment: 'LOCAL',
      'Auto-Trade': 'ENABLED',
      'Auto-Trade Config': 'CONFIGURED',
      'Signal Processing': 'ACTIVE',
      'Orders by Hand': 'ENABLED',
      'Exchange Mode': 'Paper',
      'Server Instance ID': 'the-instance-with-a-...',
      'Has Deployment ID': 'NO',
    },
    banner: 'Live Trading Active',
    text: 'The system is processing signals automatically. All safety checks passed.',
    money: 'Orders go to the built-in paper exchange. No real money is traded.',
  },
  {
    name: 'production with automatic trading of real money',
    env: { EXCHANGE_MODE: 'live', AUTO_TRADE: 'enabled', MANUAL_ORDERS: 'enabled', ...NO_EXCHANGE },
    badge: 'Live Trading',
    colour: 'green',
    mode: 'Live',
    facts: {
      Environment: 'PRODUCTION',
      'Auto-Trade': 'ENABLED',
      'Exchange Mode': 'Live',
      'Orders by Hand': 'ENABLED',
    },
    banner: 'Live Trading Active',
    text: 'The system is processing signals automatically. All safety checks passed.',
    money: 'Orders go to the exchange. Real money is traded.',
  },
  {
    name: 'a production deployment without automatic trading, on the demo exchange',
    env: {
      AUTO_TRADE: 'disabled',
      DEPLOYMENT_ID: 'deployment-number-twenty-five',
      EXCHANGE_MODE: 'demo',
      ...NO_EXCHANGE,
    },
    badge: 'PROD (Manual)',
    colour: 'yellow',
    mode: 'Demo',
    facts: {
      Environment: 'PRODUCTION',
      Deployment: 'DEPLOYED',
      'Auto-Trade': 'DISABLED',
      'Auto-Trade Config': 'CONFIGURED',
      'Exchange Mode': 'Demo',
      'Orders by Hand': 'DISABLED',
      'Deployment ID': 'deployment-number-tw...',
      'Has Deployment ID': 'YES',
    },
    banner: 'Production Mode - Manual Only',
    text: 'Production environment detected, but auto-trading is disabled in configuration.',
    money: "Orders go to the exchange's own demo trading. No real money is traded.",
  },
  {
    name: 'production on the demo exchange, where nobody said whether to trade',
    env: { EXCHANGE_MODE: 'demo', ...NO_EXCHANGE },
    badge: 'PROD (Manual)',
    colour: 'yellow',
    mode: 'Demo',
    facts: { 'Auto-Trade': 'DISABLED', 'Auto-Trade Config': 'NOT CONFIGURED', Environment: 'PRODUCTION' },
    banner: 'Production Mode - Manual Only',
    text: 'Production environment detected, but auto-trading is disabled in configuration.',
    money: "Orders go to the exchange's own demo trading. No real money is traded.",
  },
  {
    name: 'development',
    env: { APP_ENV: 'development' },
    badge: 'Dev Mode',
    colour: 'dark yellow',
    mode: 'Paper',
    facts: { Environment: 'DEVELOPMENT', 'Auto-Trade': 'DISABLED' },
    banner: 'Development Mode',
    text: 'Auto-trading is disabled. Only manual triggers work, which prevents conflicts with production systems.',
    money: 'No real money is traded.',
  },
  {
    name: 'an environment of another name',
    env: { APP_ENV: 'staging' },
    badge: 'UNKNOWN',
    colour: 'red',
    mode: 'Paper',
    facts: { Environment: 'UNKNOWN', 'Auto-Trade': 'DISABLED' },
    banner: 'Unknown Environment',
    text: 'Auto-trading is disabled.',
    money: 'No real money is traded.',
  },
];

const HUES = {
  green: ([red, green, blue]: Colour) => green > red && green > blue,
  yellow: ([red, green, blue]: Colour) => red > 200 && green > 150 && blue < green / 2,
  'dark yellow': ([red, green, blue]: Colour) => red > green && red < 200 && green > 100 && blue < green / 2,
  red: ([red, green, blue]: Colour) => red > 2 * green && red > 2 * blue,
} as const;
type Colour = [red: number, green: number, blue: number];

const banner = (page: Page) => page.getByRole('banner');
const badgeOf = (page: Page, label: string) => banner(page).getByRole('button', { name: label, exact: true });
const details = (page: Page) => dialog(page, 'System Environment Details');

for (const { name, env, badge: label, colour, mode, facts, banner: title, text, money } of LOOKS) {
  // Requirements: screens-environment-1, screens-environment-2, screens-environment-3, screens-environment-4
  // Requirements: screens-environment-5, accounts-fields-12, accounts-states-14, accounts-states-16
  // Requirements: accounts-limits-3
  test(`the badge and its dialog show ${name}`, async ({ page, signIn, server }) => {
    await server.stop();
    await server.start(env);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await signIn(page);
    await page.goto('/');
    const badge = badgeOf(page, label);
    await expect(badge).toBeVisible();
    const [red = 0, green = 0, blue = 0] = await badge
      .locator('span')
      .first()
      .evaluate((dot) => Array.from(getComputedStyle(dot).backgroundColor.matchAll(/\d+/g), Number));
    expect(HUES[colour as keyof typeof HUES]([red, green, blue]), `rgb(${red}, ${green}, ${blue})`).toBe(
      true,
    );

    await badge.hover();
    const tip = page.getByRole('tooltip');
    await expect(tip).toContainText(`Environment: ${facts.Environment}`);
    await expect(tip).toContainText(`Auto-Trade: ${facts['Auto-Trade']}`);
    await expect(tip).toContainText(`Exchange Mode: ${mode}`);
    await expect(tip).toContainText('Click for detailed information');
    const modeBadge = banner(page).getByText(mode, { exact: true });
    await modeBadge.hover();
    await expect(tip).toContainText(money);
    // The line along the top is for real money alone.
    const line = await banner(page).evaluate((element) => getComputedStyle(element).borderTopWidth);
    expect(line).toBe(mode === 'Live' ? '4px' : '0px');

    await badge.click();
    for (const [fact, value] of Object.entries(facts)) {
      await expect(
        details(page).getByText(fact, { exact: true }).locator('xpath=following-sibling::dd'),
      ).toHaveText(value);
    }
    await expect(details(page).getByText('Deployment ID', { exact: true })).toHaveCount(
      'Deployment ID' in facts ? 1 : 0,
    );
    await expect(details(page).getByRole('alert').first()).toContainText(title);
    await expect(details(page).getByRole('alert').first()).toContainText(text);
    await expect(details(page)).toContainText(money);
    await expect(details(page).getByRole('alert').filter({ hasText: 'Real Money' })).toHaveCount(
      mode === 'Live' ? 1 : 0,
    );
    await expect(details(page)).toContainText('Auto-refreshes every 30 seconds');
    expect(await seriousFindings(page)).toEqual([]);
  });
}

/**
 * A page whose time stands still until the test lets it pass, and the seconds at which it asked for the status. No
 * second passes while an answer is on its way: it takes real time, of which a busy machine has more.
 */
async function stopTime(page: Page) {
  await page.clock.pauseAt(Date.now() + 3_600_000);
  const clock = { seconds: 0, calls: [] as number[] };
  const underWay = new Set<Promise<unknown>>();
  page.on('request', (request) => {
    if (!request.url().endsWith('/api/environment/status')) return;
    clock.calls.push(clock.seconds);
    const answered = request.response().then((response) => response?.finished());
    underWay.add(answered);
    void answered.finally(() => underWay.delete(answered));
  });
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 1) {
      await Promise.all(underWay);
      clock.seconds += 1;
      await page.clock.runFor(1_000);
    }
  };
  return { clock, pass };
}

// Requirements: screens-environment-3, accounts-calls-19, accounts-limits-2, settings-of-the-program-11
test('the status is fetched again every 30 seconds, under an open dialog too, and no more after signing out', async ({
  page,
  signIn,
  server,
  expectFailure,
}) => {
  await server.stop();
  await server.start();
  await page.clock.install();
  await signIn(page);
  await page.goto('/');
  await expect(badgeOf(page, 'Live Trading')).toBeVisible();
  const { clock, pass } = await stopTime(page);
  await pass(100);
  expect(clock.calls.length).toBeGreaterThanOrEqual(2);
  // The thirty seconds begin with the answer, which the page may take up a second or two after it came.
  for (const [index, second] of clock.calls.slice(1).entries()) {
    expect(second - (clock.calls[index] ?? 0)).toBeGreaterThanOrEqual(30);
    expect(second - (clock.calls[index] ?? 0)).toBeLessThan(40);
  }

  await badgeOf(page, 'Live Trading').click();
  const updated = details(page).getByText(/^Last updated: /);
  await expect(async () => {
    await pass(1);
    await expect(updated).toBeVisible({ timeout: 200 });
  }).toPass();
  const answered = page.waitForResponse('**/api/environment/status');
  const before = clock.calls.length;
  await pass(40);
  expect(clock.calls.length).toBeGreaterThan(before);
  const { timestamp } = (await (await answered).json()) as { timestamp: string };
  await expect(updated).toHaveText(`Last updated: ${inTokyo(timestamp)}`);

  await page.keyboard.press('Escape');
  await pass(1);
  await expect(details(page)).toBeHidden();
  // What the hour that passed has set going may arrive after the session's end.
  expectFailure({ path: '/api/my-positions', status: 401 });
  await page.clock.resume();
  await signOut(page, server.adminUsername);
  const after = clock.calls.length;
  await pass(100);
  expect(clock.calls.length).toBe(after);
});

/** Tokyo has been nine hours ahead since 1951. */
const inTokyo = (instant: string) =>
  new Date(Date.parse(instant) + 9 * 3_600_000)
    .toISOString()
    .slice(0, 19)
    .replaceAll('-', '/')
    .replace('T', ' ');

// Requirements: accounts-states-15, accounts-messages-16, trading-messages-3
test('the badge stays loading while the status cannot be fetched, and its dialog offers another try', async ({
  page,
  signIn,
  server,
  expectFailure,
}) => {
  await server.stop();
  await server.start();
  expectFailure({ path: '/api/environment/status', status: 500 });
  await signIn(page);
  const path = '**/api/environment/status';
  await page.route(path, (route) => route.fulfill({ status: 500, body: '' }));
  await page.goto('/');
  const badge = badgeOf(page, 'Loading...');
  await expect(badge).toHaveAttribute('data-tone', 'grey');
  await badge.hover();
  await expect(page.getByRole('tooltip')).toContainText('Failed to fetch environment status');
  await badge.click();
  const alert = details(page).getByRole('alert');
  await expect(alert).toContainText('Failed to fetch environment status');
  await expect(alert).toContainText('500: Internal Server Error');
  await page.unroute(path);
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(details(page)).toContainText('Live Trading Active');
  await page.keyboard.press('Escape');
  await expect(badgeOf(page, 'Live Trading')).toBeVisible();
});

// Requirements: accounts-messages-16
test('a status that can no longer be fetched stays on the screen, and the badge says so', async ({
  page,
  signIn,
  server,
  expectFailure,
}) => {
  await server.stop();
  await server.start();
  expectFailure({ path: '/api/environment/status', status: 'network' });
  await page.clock.install();
  await signIn(page);
  await page.goto('/');
  const badge = badgeOf(page, 'Live Trading');
  await expect(badge).toBeVisible();
  await page.route('**/api/environment/status', (route) => route.abort());
  await badge.hover();
  const tip = page.getByRole('tooltip');
  // An answer that was still on its way begins the half minute anew.
  await expect(async () => {
    await page.clock.fastForward(30_000);
    await expect(tip).toContainText('Failed to fetch environment status', { timeout: 2_000 });
  }).toPass();
  await expect(tip).toContainText('Environment: PRODUCTION');
});

// Requirements: signals-the-table-14, trading-roles-2
test('in a production deployment nobody triggers or retries by hand, the server included', async ({
  page,
  signIn,
  server,
  operator,
}) => {
  await server.stop();
  await server.start();
  const symbol = `${uniqueToken()}USDT`;
  const signal = await operator.postSignal({ symbol, price: '100' });
  await (await operator.platform()).candle({ Symbol: symbol, Close: '120' });
  expect((await operator.trigger(signal.id)).workflowStatus).toBe('failed');
  await server.stop();
  await server.start({ DEPLOYMENT_ID: 'production-1' });

  await signIn(page);
  await page.goto(`/signals?token=${signal.token}`);
  await expectDisabled(page, /^Trigger the workflow of signal/);
  await page.goto('/automation-workflows?status=failed');
  await expectDisabled(page, /^Retry workflow/);

  const headers = { origin: server.url };
  const trigger = await page.request.post('/api/trigger-automation', {
    headers,
    data: { signalId: signal.id },
  });
  const retry = await page.request.post(`/api/automation/trigger/${signal.id}`, { headers });
  for (const answer of [trigger, retry]) {
    expect(answer.status()).toBe(403);
    expect(await answer.json()).toEqual({ message: 'Manual triggers disabled in production' });
  }
});

async function expectDisabled(page: Page, name: RegExp) {
  const button = page.getByRole('button', { name });
  await expect(button).toBeDisabled();
  await button.locator('xpath=..').hover();
  await expect(page.getByRole('tooltip')).toHaveText('Manual triggers disabled in production');
}
