import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { expectToast, withoutLiveUpdates } from './screen.ts';
import { automationCard } from './settings-screen.ts';

/* What a settings form makes of it when the settings are changed elsewhere. */

const processor = (page: Page) => page.getByLabel('Signal processor');
const timeframe = (page: Page) => page.getByLabel('Signal timeframe');
const method = (page: Page) => page.getByLabel('Position sizing method');
const portion = (page: Page) => page.getByLabel('Investment portion');
const saveSettings = (page: Page) => page.getByRole('button', { name: 'Save Settings' }).click();
const notice = (page: Page) => page.getByRole('alert').filter({ hasText: 'Changed elsewhere' });
const testUser = (page: Page) => automationCard(page).getByRole('switch', { name: 'Test user' });
const orderSet = (page: Page) => automationCard(page).getByLabel('Trade order set');

async function saveAutomation(page: Page) {
  await automationCard(page).getByRole('button', { name: 'Save Automation' }).click();
  await expectToast(page, { title: 'Settings Updated' });
}

test('saving the automation changes what was touched, and nothing that was decided elsewhere meanwhile', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await withoutLiveUpdates(page);
  await signIn(page);
  await page.goto(`/settings?userId=${user.id}`);
  await expect(testUser(page)).toBeChecked();
  const elsewhere = {
    tradingPausedUntil: '2099-03-03T20:06:00.000Z',
    isTestUser: false,
    oppositeSignal: 'skip',
  } as const;
  await operator.changeSettings(user.id, elsewhere);
  await orderSet(page).selectOption('B');
  await saveAutomation(page);
  expect(await operator.settingsOf(user.id)).toMatchObject({ ...elsewhere, tradeOrderSet: 'B' });
  await expect(testUser(page)).not.toBeChecked();
  await expect(automationCard(page).getByRole('radio', { name: 'Skip' })).toBeChecked();
  await expect(automationCard(page).getByText(/^Paused until 2099/)).toBeVisible();
});

test('the automation card follows what is decided elsewhere, and keeps a pause that it did not set', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page);
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
  await expect(notice(page)).toContainText('Changed elsewhere: Trade order set (now D)');
  await expect(orderSet(page)).toHaveValue('C');
  await automationCard(page).getByRole('button', { name: 'Discard' }).click();
  await expect(orderSet(page)).toHaveValue('D');
  await expect(notice(page)).toHaveCount(0);
});

test('settings changed elsewhere show in the fields that nobody touched, and a save does not take them back', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await expect(method(page)).toHaveValue('Technical Analysis');
  await timeframe(page).selectOption('1h');
  await operator.changeSettings(user.id, {
    positionSizingMethod: 'Portfolio Allocation',
    investmentPortion: '0.15',
    signalProcessor: 'UD Bot',
  });
  await expect(processor(page)).toHaveValue('UD Bot');
  await expect(method(page)).toHaveValue('Portfolio Allocation');
  await expect(portion(page).locator('option:checked')).toHaveText('15.0%');
  await expect(timeframe(page)).toHaveValue('1h');
  await expect(notice(page)).toHaveCount(0);
  await saveSettings(page);
  await expectToast(page, { title: 'Settings Updated' });
  await expect(notice(page)).toHaveCount(0);
  expect(await operator.settingsOf(user.id)).toMatchObject({
    positionSizingMethod: 'Portfolio Allocation',
    signalProcessor: 'UD Bot',
    signalTimeframe: '1h',
  });
});

test('a field that was changed here and elsewhere keeps what was chosen, says so, and offers the stored value', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await processor(page).selectOption('UD Bot');
  await operator.changeSettings(user.id, { signalProcessor: 'Any' });
  await expect(notice(page)).toContainText('Changed elsewhere: Signal processor (now Any)');
  await expect(notice(page)).toContainText(
    'What you have chosen here is kept, and replaces it when you save.',
  );
  await expect(processor(page)).toHaveValue('UD Bot');
  await notice(page).getByRole('button', { name: 'Take stored value' }).click();
  await expect(processor(page)).toHaveValue('Any');
  await expect(notice(page)).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Discard' }).first()).toBeDisabled();

  await method(page).selectOption('Risk Management');
  await operator.changeSettings(user.id, { investmentPortion: '0.15', signalProcessor: 'Tesla' });
  await expect(notice(page)).toContainText('Changed elsewhere: Investment portion (now 15.0%)');
  await expect(processor(page)).toHaveValue('Tesla');
  await expect(portion(page).locator('option')).toHaveText(['Auto']);
  await notice(page).getByRole('button', { name: 'Take stored value' }).click();
  await expect(method(page)).toHaveValue('Technical Analysis');
  await expect(portion(page).locator('option:checked')).toHaveText('15.0%');

  await processor(page).selectOption('UD Bot');
  await operator.changeSettings(user.id, { signalProcessor: 'Any' });
  await expect(notice(page)).toBeVisible();
  await saveSettings(page);
  await expectToast(page, { title: 'Settings Updated' });
  await expect(notice(page)).toHaveCount(0);
  expect((await operator.settingsOf(user.id)).signalProcessor).toBe('UD Bot');
});

test('a notice whose code cannot be loaded is said in plain text', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/assets/', status: 'network' });
  await page.route('**/changed-elsewhere-notice-*.js', (route) => route.abort());
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await processor(page).selectOption('UD Bot');
  await operator.changeSettings(user.id, { signalProcessor: 'Any' });
  await expect(notice(page)).toHaveText('Changed elsewhere: Signal processor');
  await expect(processor(page)).toHaveValue('UD Bot');
  await page.getByRole('button', { name: 'Discard' }).first().click();
  await expect(processor(page)).toHaveValue('Any');
});
