import type { Page } from '@playwright/test';
import { chartingPlatform } from './charting-platform.ts';
import { expect, test } from './fixtures.ts';
import { closeDialog, dialog, expectToast, fillLogin, pageTitle, tableRow } from './screen.ts';
import { revealKey } from './webhook-screen.ts';

// An empty password counts as unset: the first start generates one and prints it.
test.use({ serverEnv: { ADMIN_PASSWORD: '' }, startsSignedIn: false });

const ADMIN = 'admin@example.com';
const PRICE = 65_000;
const USERS = [
  { username: 'risk@example.com', method: 'Risk Management', trading: true },
  { username: 'portfolio@example.com', method: 'Portfolio Allocation', trading: true },
  { username: 'technical@example.com', method: 'Technical Analysis', trading: true },
  { username: 'idle@example.com', method: 'Technical Analysis', trading: false },
];
const TRADERS = USERS.filter(({ trading }) => trading);

// Requirements: accounts-states-8, signals-the-table-7, signals-the-table-8, signals-the-table-9
// Requirements: signals-the-table-10, signals-the-table-12, signals-the-dialogs-2, signals-the-dialogs-7
// Requirements: signals-the-dialogs-9, signals-the-dialogs-11, workflow-monitor-11, workflow-monitor-12
// Requirements: trading-calls-14
test('an alert becomes filled orders of three users, set up by clicking, and survives a restart', async ({
  page,
  server,
  context,
  expectFailure,
}) => {
  test.setTimeout(300_000);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  const password = /Password +(\S+) +\(shown only this once\)/.exec(server.output())?.[1] ?? '';

  await test.step('sign in with the printed password', async () => {
    await page.goto('/');
    await fillLogin(page, { username: ADMIN, password });
    await expect(pageTitle(page, `Welcome, ${ADMIN}`)).toBeVisible();
  });

  const urls = await test.step('create the webhook and copy its URLs', async () => {
    await followLink(page, 'Configuration');
    // The first steps on the dashboard have a button with this name too.
    await expect(pageTitle(page, 'Webhook Configuration')).toBeVisible();
    await page.getByRole('button', { name: 'Create Webhook' }).click();
    await expectToast(page, { title: 'Webhook Created' });
    await revealKey(page, password);
    await expect(page.getByLabel('Webhook Key', { exact: true })).toHaveValue(/^[\w-]{43}$/);
    const hookKey = await page.getByLabel('Webhook Key', { exact: true }).inputValue();
    const signalUrl = await copied(page, 'Copy Signal Webhook URL');
    const priceUrl = await copied(page, 'Copy Price Data Webhook URL');
    expect(signalUrl).toBe(`${server.url}/hooks/trading_view_signal?hkid=${hookKey}`);
    expect(priceUrl).toBe(`${server.url}/hooks/trading_view_candler?hkid=${hookKey}`);
    return { signalUrl, priceUrl };
  });

  await test.step('create four users', async () => {
    await followLink(page, 'Users');
    for (const { username } of USERS) {
      await page.getByRole('button', { name: 'Create New User' }).click();
      const form = dialog(page, 'Create New User');
      await form.getByLabel('Username').fill(username);
      await form.getByLabel(/^Password/).fill('first password');
      await form.getByLabel(/^Confirm Password/).fill('first password');
      await form.getByRole('button', { name: 'Create User' }).click();
      await expectToast(page, { title: 'User Created Successfully', text: username });
      await expect(tableRow(page, 'Users', username)).toBeVisible();
    }
  });

  await test.step('choose a sizing method for each on the settings page', async () => {
    for (const { username, method } of USERS) {
      await page.getByRole('link', { name: `Settings of ${username}` }).click();
      await expect(pageTitle(page, `User Settings - ${username}`)).toBeVisible();
      await page.getByLabel('Position sizing method').selectOption(method);
      await page.getByRole('button', { name: 'Save Settings' }).click();
      await expectToast(page, { title: 'Settings Updated', text: `${username}'s settings` });
      await followLink(page, 'Users');
      await expect(tableRow(page, 'Users', username)).toContainText(method);
    }
  });

  await test.step('switch trading on for three of them', async () => {
    for (const { username } of TRADERS) {
      const trading = page.getByRole('switch', { name: `Active trading of ${username}` });
      await trading.click({ force: true });
      const confirmation = dialog(page, 'Enable Active Trading');
      await expect(confirmation).toContainText('This affects live trading');
      await confirmation.getByRole('button', { name: 'Enable Trading' }).click();
      await expect(trading).toBeChecked();
    }
    await expect(page.getByRole('switch', { name: 'Active trading of idle@example.com' })).not.toBeChecked();
  });

  await test.step('post a candle as JSON and a signal as plain text', async () => {
    const platform = chartingPlatform(urls);
    const candle = await platform.candle({ Symbol: 'BTCUSDT', Close: String(PRICE) });
    expect(candle.status).toBe(200);
    const signal = await platform.signal({ symbol: 'BITGET:BTCUSDT.P', price: String(PRICE) });
    expect(signal.status).toBe(200);
    expect(await signal.json()).toMatchObject({ success: true, duplicate: false });
  });

  await test.step('the signal is completed for all three', async () => {
    await followLink(page, 'Signals');
    await expect(async () => {
      await page.getByRole('button', { name: 'Refresh' }).click();
      await expect(tableRow(page, 'Signal History', 'BTC')).toContainText('Completed', { timeout: 5_000 });
    }).toPass();
    await expectSignalRow(page);
    for (const card of ['Total Signals', "Today's Signals", 'Buy Signals']) {
      await expect(page.getByText(card, { exact: true }).locator('..')).toContainText('1');
    }
  });

  await test.step('each cell opens its dialog', () => openSignalDialogs(page));
  await test.step('the monitor shows the run', () => openWorkflowDialogs(page));

  await test.step('after a restart everything is still there', async () => {
    expectFailure({ path: '/', status: 'network' });
    await server.stop();
    await server.start();
    // The page that is still open would ask without a session.
    await page.goto('about:blank');
    await context.clearCookies();
    await page.goto('/signals');
    await fillLogin(page, { username: ADMIN, password });
    await expect(pageTitle(page, `Welcome, ${ADMIN}`)).toBeVisible();
    await followLink(page, 'Signals');
    await expectSignalRow(page);
    await followLink(page, 'Workflows');
    await expect(tableRow(page, 'Workflow Runs', 'BTC')).toContainText('3/3');
    await followLink(page, 'Users');
    for (const { username, method } of USERS) {
      await expect(tableRow(page, 'Users', username)).toContainText(method);
    }
    await followLink(page, 'Price Logs');
    await expect(tableRow(page, 'Price Logs', 'BTC')).toContainText('$65,000.00');
  });
});

const followLink = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click();

async function copied(page: Page, button: string): Promise<string> {
  await page.getByRole('button', { name: button }).click();
  await expectToast(page, { title: 'Copied', text: `${button.replace('Copy ', '')} copied to clipboard` });
  return await page.evaluate(() => navigator.clipboard.readText());
}

async function expectSignalRow(page: Page) {
  const row = tableRow(page, 'Signal History', 'BTC');
  await expect(row).toHaveCount(1);
  for (const text of ['Buy', '$65,000.00', '15m', 'Tesla', '1 , 0', 'Completed', '100%']) {
    await expect(row).toContainText(text);
  }
  await expect(row.getByRole('button', { name: /^3\/3, trades of/ })).toBeVisible();
  await expect(row.getByRole('button', { name: /^3\/3, users of/ })).toBeVisible();
  const levels = await row.getByRole('button', { name: /SL\/TP calculation/ }).textContent();
  const [stopLoss, takeProfit] = (levels ?? '').split(' / ').map(Number);
  expect(stopLoss).toBeLessThan(PRICE);
  expect(takeProfit).toBeGreaterThan(PRICE);
}

async function openSignalDialogs(page: Page) {
  const row = tableRow(page, 'Signal History', 'BTC');
  const open = async (cell: RegExp, title: string) => {
    await row.getByRole('button', { name: cell }).click();
    await expect(dialog(page, title)).toBeVisible();
    return dialog(page, title);
  };

  const details = await open(/details of the signal/, 'Signal Details');
  for (const text of ['BTC', 'Buy', '$65,000.00', 'USDT', '15m', 'Tesla', 'Original Time', 'Received Time']) {
    await expect(details).toContainText(text);
  }
  await expect(details.getByRole('region', { name: 'Parameters' })).toContainText('"alert"');
  await closeDialog(page, 'Signal Details');

  const levels = await open(/SL\/TP calculation/, 'SL/TP Calculation Details');
  for (const { username, method } of TRADERS) {
    const record = levels.getByRole('article').filter({ hasText: username });
    await expect(record).toContainText(method);
    await expect(record).toContainText('10x');
    await expect(record.getByText('Calculation Reason')).toBeVisible();
    const figure = async (name: string) =>
      Number(
        await record.getByText(name, { exact: true }).locator('xpath=following-sibling::dd').textContent(),
      );
    const entry = await figure('Entry Price');
    expect(await figure('Stop Loss')).toBeLessThan(entry);
    expect(await figure('Take Profit')).toBeGreaterThan(entry);
  }
  await expect(levels.getByRole('article')).toHaveCount(TRADERS.length);
  await levels.getByText('Calculation Detail').first().click();
  await expect(levels.getByText(/available balance/i).first()).toBeVisible();
  await closeDialog(page, 'SL/TP Calculation Details');

  const workflows = await open(/workflows of signal/, 'Workflows for Signal');
  await expect(workflows).toContainText('Automatic Triggers (1)');
  await expect(workflows).toContainText('Manual Triggers (0)');
  await expect(workflows).toContainText('3 of 3 users successful');
  await closeDialog(page, 'Workflows for Signal');

  const steps = await open(/workflow execution of signal/, 'Workflow Execution Details');
  await expectSixteenSteps(page, 'Workflow Execution Details');
  await expect(steps).toContainText('Acquire Processing Slot');
  await closeDialog(page, 'Workflow Execution Details');

  const trades = await open(/trades of signal/, 'Trade Details - Signal');
  for (const [name, value] of [
    ['Successful', '3'],
    ['Failed', '0'],
    ['Total', '3'],
    ['Success Rate', '100%'],
  ] as const) {
    await expect(trades.getByText(name, { exact: true }).locator('xpath=following-sibling::dd')).toHaveText(
      value,
    );
  }
  for (const { username } of TRADERS) {
    const trade = trades.getByRole('article').filter({ hasText: username });
    for (const text of ['Filled', 'BTCUSDT', '65000', 'buy', 'Bitget'])
      await expect(trade).toContainText(text);
  }
  await closeDialog(page, 'Trade Details - Signal');

  const users = await open(/users of signal/, 'Users for Signal');
  await expect(users).toContainText('3 of 5 users eligible');
  for (const { username } of TRADERS) {
    const entry = users.getByRole('listitem').filter({ hasText: username });
    await expect(entry.getByText('Eligible', { exact: true })).toBeVisible();
  }
  const idle = users.getByRole('listitem').filter({ hasText: 'idle@example.com' });
  await expect(idle).toContainText('Not eligible');
  await expect(idle).toContainText('Active trading is off');
  await closeDialog(page, 'Users for Signal');
}

async function openWorkflowDialogs(page: Page) {
  await followLink(page, 'Workflows');
  const run = tableRow(page, 'Workflow Runs', 'BTC');
  for (const text of ['Tesla', 'Automatic', 'Completed', '3/3']) await expect(run).toContainText(text);

  await run.getByRole('button', { name: /^16, steps of workflow/ }).click();
  await expectSixteenSteps(page, 'Workflow Execution Steps');
  await closeDialog(page, 'Workflow Execution Steps');

  await run.getByRole('button', { name: /eligible users of workflow/ }).click();
  const users = dialog(page, 'Eligible Users');
  for (const { username } of USERS) await expect(users).toContainText(username);
  await expect(users).toContainText('Active trading is off');
  await closeDialog(page, 'Eligible Users');

  await run.getByRole('button', { name: /details of the signal/ }).click();
  await expect(dialog(page, 'Signal Details')).toContainText('$65,000.00');
  await closeDialog(page, 'Signal Details');
}

/** Steps 1 to 7 of the pipeline and three for each user, all completed, with input and output. */
async function expectSixteenSteps(page: Page, title: string) {
  const steps = dialog(page, title);
  for (const { username } of TRADERS) {
    const user = steps.locator('summary').filter({ hasText: username });
    await expect(user.getByText('Success', { exact: true })).toBeVisible();
    await user.click();
  }
  for (const folded of ['Steps 1 to 6', 'Step 7']) await steps.getByText(folded, { exact: true }).click();
  const items = steps.getByRole('listitem');
  await expect(items).toHaveCount(16);
  const texts = await items.allInnerTexts();
  const numbers = texts.map((text) => Number.parseInt(text, 10)).sort((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
  for (const text of texts) expect(text).toContain('Completed');
  await expect(items.filter({ hasText: 'Submit Order' })).toHaveCount(TRADERS.length);
  const selection = items.filter({ hasText: 'Select Eligible Users' });
  await selection.getByText('Technical details').click();
  await selection.getByText('Output data').click();
  await expect(selection.getByRole('region', { name: 'Output data' })).toContainText(
    '"currentMode": "sandbox"',
  );
}
