import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { expectToast, pageTitle } from './screen.ts';
import { accountStatusCard, automationCard } from './settings-screen.ts';

/* How a settings form reacts when its settings are changed elsewhere. */

const processor = (page: Page) => page.getByLabel('Signal processor');
const timeframe = (page: Page) => page.getByLabel('Signal timeframe');
const method = (page: Page) => page.getByLabel('Position sizing method');
const portion = (page: Page) => page.getByLabel('Investment portion');
const saveSettings = (page: Page) => page.getByRole('button', { name: 'Save Settings' }).click();
const notice = (page: Page) =>
  page.getByRole('alert').filter({ hasText: 'These settings were changed elsewhere:' });
const takeTheirs = (page: Page) => notice(page).getByRole('button', { name: 'Take theirs' }).click();
const keepMine = (page: Page) => notice(page).getByRole('button', { name: 'Keep mine' }).click();
const testUser = (page: Page) => automationCard(page).getByRole('switch', { name: 'Test user' });
const orderSet = (page: Page) => automationCard(page).getByLabel('Trade order set');

async function saveAutomation(page: Page) {
  await automationCard(page).getByRole('button', { name: 'Save Automation' }).click();
  await expectToast(page, { title: 'Settings Updated' });
}

test('the automation card follows changes made elsewhere and keeps a pause that it did not set', async ({
  page,
  operator,
}) => {
  const user = await operator.createUser();
  await page.goto(`/settings?userId=${user.id}`);
  await expect(testUser(page)).toBeChecked();
  await operator.changeSettings(user.id, {
    isTestUser: false,
    tradingPausedUntil: '2099-03-03T20:06:30.000Z',
  });
  await expect(testUser(page)).not.toBeChecked();
  await expect(automationCard(page).getByLabel('Trading paused until')).not.toHaveValue('');
  await expect(notice(page)).toHaveCount(0);
  await orderSet(page).selectOption('B');
  await saveAutomation(page);
  expect(await operator.settingsOf(user.id)).toMatchObject({
    isTestUser: false,
    tradingPausedUntil: '2099-03-03T20:06:30.000Z',
    tradeOrderSet: 'B',
  });

  await orderSet(page).selectOption('C');
  await operator.changeSettings(user.id, { tradeOrderSet: 'D' });
  await expect(notice(page)).toContainText(
    'These settings were changed elsewhere: Trade order set (now D). If you keep yours, your next save replaces these values.',
  );
  await expect(orderSet(page)).toHaveValue('C');
  await automationCard(page).getByRole('button', { name: 'Discard' }).click();
  await expect(orderSet(page)).toHaveValue('D');
  await expect(notice(page)).toHaveCount(0);
});

// Requirements: screens-user-settings-10
test('an untouched form shows changes made elsewhere immediately; a form with unsaved input asks', async ({
  user,
  page,
  operator,
}) => {
  await page.goto('/settings');
  await expect(method(page)).toHaveValue('Technical Analysis');
  await operator.changeSettings(user.id, {
    positionSizingMethod: 'Portfolio Allocation',
    investmentPortion: '0.15',
    signalProcessor: 'UD Bot',
  });
  await expect(processor(page)).toHaveValue('UD Bot');
  await expect(method(page)).toHaveValue('Portfolio Allocation');
  await expect(portion(page).locator('option:checked')).toHaveText('15.0%');
  await expect(notice(page)).toHaveCount(0);

  await timeframe(page).selectOption('1h');
  await operator.changeSettings(user.id, { signalProcessor: 'Any', investmentPortion: '0.2' });
  await expect(notice(page)).toContainText('Investment portion (now 20.0%), Signal processor (now Any)');
  await expect(processor(page)).toHaveValue('UD Bot');
  await expect(timeframe(page)).toHaveValue('1h');
  await expect(page.getByRole('button', { name: 'Save Settings' })).toBeDisabled();
  await takeTheirs(page);
  await expect(notice(page)).toHaveCount(0);
  await expect(processor(page)).toHaveValue('Any');
  await expect(portion(page).locator('option:checked')).toHaveText('20.0%');
  await expect(timeframe(page)).toHaveValue('Any');
  await expect(page.getByRole('button', { name: 'Discard' }).first()).toBeDisabled();

  await processor(page).selectOption('UD Bot');
  await operator.changeSettings(user.id, { signalProcessor: 'Tesla' });
  await expect(notice(page)).toContainText('Signal processor (now Tesla)');
  await keepMine(page);
  await expect(notice(page)).toHaveCount(0);
  await expect(processor(page)).toHaveValue('UD Bot');
  await saveSettings(page);
  await expectToast(page, { title: 'Settings Updated' });
  await expect(notice(page)).toHaveCount(0);
  expect((await operator.settingsOf(user.id)).signalProcessor).toBe('UD Bot');
});

/** Counts the page's GET calls to each path. */
function countCalls(page: Page, ...paths: string[]): () => number[] {
  const calls = paths.map(() => 0);
  page.on('request', (request) => {
    const at = paths.indexOf(new URL(request.url()).pathname);
    if (request.method() === 'GET' && at >= 0) calls[at] = (calls[at] ?? 0) + 1;
  });
  return () => [...calls];
}

/** Opens a screen without settings and waits for the stream of changes. */
async function openDashboard(page: Page) {
  const stream = page.waitForResponse('**/api/events');
  await page.goto('/');
  await stream;
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
}

/** Goes from the settings to the dashboard and back without reloading the page. */
async function reopen(page: Page, meanwhile?: () => Promise<unknown>) {
  await page.getByRole('banner').getByRole('link', { name: 'Dashboard' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await meanwhile?.();
  await page.goBack();
}

// Requirements: accounts-calls-23
test("the user's own settings are fetched once, however often the screen is opened", async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser({ settings: { signalProcessor: 'UD Bot' } });
  const other = await operator.createUser();
  await signIn(page, user);
  await openDashboard(page);
  const calls = countCalls(page, '/api/user-settings');
  await page.getByRole('link', { name: 'User Settings' }).click();
  await expect(processor(page)).toHaveValue('UD Bot');
  await reopen(page);
  await expect(processor(page)).toHaveValue('UD Bot');
  await reopen(page, () => operator.changeSettings(other.id, { signalProcessor: 'Any' }));
  await expect(processor(page)).toHaveValue('UD Bot');
  expect(calls()).toEqual([1]);

  await reopen(page, () => operator.changeSettings(user.id, { signalProcessor: 'Any' }));
  await expect(processor(page)).toHaveValue('Any');
  expect(calls()).toEqual([2]);
});

// Requirements: accounts-calls-23
test("another user's settings are fetched once, and again after a change elsewhere", async ({
  page,
  operator,
}) => {
  const user = await operator.createUser();
  const bystander = await operator.createUser();
  await openDashboard(page);
  await page.getByRole('banner').getByRole('link', { name: 'Users' }).click();
  const calls = countCalls(page, `/api/admin/user/${user.id}`, `/api/admin/user-settings/${user.id}`);
  await page.getByRole('link', { name: `Settings of ${user.username}` }).click();
  await expect(processor(page)).toHaveValue('Tesla');
  await reopen(page);
  await expect(processor(page)).toHaveValue('Tesla');
  await reopen(page, () => operator.setActive(bystander.id, false));
  await expect(processor(page)).toHaveValue('Tesla');
  expect(calls()).toEqual([1, 1]);

  await reopen(page, () => operator.changeSettings(user.id, { signalProcessor: 'UD Bot' }));
  await expect(processor(page)).toHaveValue('UD Bot');
  await reopen(page, () => operator.setActive(user.id, false));
  await expect(accountStatusCard(page).getByRole('button', { name: 'Reactivate' })).toBeVisible();
});

test('settings changed while the live stream was down are refetched', async ({
  user,
  page,
  operator,
  server,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 'network' });
  // The page prefetches code, possibly while the server restarts.
  expectFailure({ path: '/assets/', status: 'network' });
  await openDashboard(page);
  await page.getByRole('link', { name: 'User Settings' }).click();
  await expect(processor(page)).toHaveValue('Tesla');
  await page.getByRole('banner').getByRole('link', { name: 'Dashboard' }).click();
  await page.route('**/api/events', (route) => route.abort());
  const refused = page.waitForEvent('requestfailed', (request) => request.url().endsWith('/api/events'));
  await server.stop();
  await server.start();
  await refused;

  await operator.changeSettings(user.id, { signalProcessor: 'UD Bot' });
  await page.goBack();
  await expect(processor(page)).toHaveValue('UD Bot');

  // The screen stays open: the restored stream brings the missed changes.
  await operator.changeSettings(user.id, { signalProcessor: 'Any' });
  await page.unroute('**/api/events');
  await expect(processor(page)).toHaveValue('Any', { timeout: 20_000 });
});

test('settings changed while the screens were paused are current when opened', async ({ page, operator }) => {
  const user = await operator.createUser();
  await openDashboard(page);
  await page.goto(`/settings?userId=${user.id}`);
  await expect(processor(page)).toHaveValue('Tesla');
  await page.getByRole('banner').getByRole('link', { name: 'Signals' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Live' })).toBeVisible();
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByRole('status').filter({ hasText: 'Paused' })).toBeVisible();
  await operator.changeSettings(user.id, { signalProcessor: 'UD Bot' });
  await expect(page.getByRole('status').filter({ hasText: 'there is something new' })).toBeVisible();
  await page.goBack();
  await expect(processor(page)).toHaveValue('UD Bot');
});
