import type { Page } from '@playwright/test';
import { expect, TOKYO, test } from './fixtures.ts';
import { dialog, expectToast, pageTitle } from './screen.ts';
import { accountStatusCard, automationCard, connectionCard } from './settings-screen.ts';

test.use({ serverEnv: TOKYO });

const save = (page: Page) => automationCard(page).getByRole('button', { name: 'Save Automation' });
const paused = (page: Page) => automationCard(page).getByLabel('Trading paused until');

async function storedSettings(page: Page, userId: string) {
  const answer = await page.request.get(`/api/admin/user-settings/${userId}`);
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
}

// Requirements: users-3
test('an administrator sets how the system trades for a user', async ({ page, operator }) => {
  const user = await operator.createUser();
  await page.goto(`/settings?userId=${user.id}`);
  const card = automationCard(page);
  await expect(card.getByRole('switch', { name: 'Test user' })).toBeChecked();
  await expect(card.getByLabel('Trade order set')).toHaveValue('M');
  await expect(card.getByLabel('Trade order set').locator('option')).toHaveCount(26);
  await expect(card.getByText('Users of set A are traded first, those of set Z last.')).toBeVisible();
  await expect(card.getByRole('radio', { name: 'Reverse' })).toBeChecked();

  // With only the keyboard.
  await card.getByRole('switch', { name: 'Test user' }).press('Space');
  await card.getByLabel('Trade order set').press('B');
  await card.getByRole('radio', { name: 'Reverse' }).press('ArrowDown');
  await expect(card.getByRole('radio', { name: 'Skip' })).toBeChecked();
  await save(page).press('Enter');
  await expectToast(page, {
    title: 'Settings Updated',
    text: `${user.username}'s settings have been updated successfully.`,
  });
  expect(await storedSettings(page, user.id)).toMatchObject({
    isTestUser: false,
    tradeOrderSet: 'B',
    oppositeSignal: 'skip',
    tradingPausedUntil: null,
  });

  await page.reload();
  await expect(card.getByRole('radio', { name: 'Skip' })).toBeChecked();
  await card.getByRole('radio', { name: 'Reverse' }).check();
  await card.getByRole('button', { name: 'Discard' }).click();
  await expect(card.getByRole('radio', { name: 'Skip' })).toBeChecked();
});

// Requirements: users-3
test('pauses trading for a day in the display time zone and resumes it', async ({ page, operator }) => {
  const user = await operator.createUser();
  await page.goto(`/settings?userId=${user.id}`);
  const card = automationCard(page);
  await expect(card.getByText('Not paused')).toBeVisible();
  await expect(card.getByText('Time zone: Asia/Tokyo')).toBeVisible();

  await paused(page).fill('2099-03-04T05:06');
  await save(page).click();
  await expect(card.getByText('Paused until 2099/03/04 05:06:00')).toBeVisible();
  expect((await storedSettings(page, user.id)).tradingPausedUntil).toBe('2099-03-03T20:06:00.000Z');

  await page.reload();
  await expect(paused(page)).toHaveValue('2099-03-04T05:06');
  await card.getByRole('button', { name: 'Resume' }).click();
  await expect(paused(page)).toHaveValue('');
  await save(page).click();
  await expect(card.getByText('Not paused')).toBeVisible();
  expect((await storedSettings(page, user.id)).tradingPausedUntil).toBeNull();

  await card.getByRole('button', { name: 'Pause 24 h' }).click();
  await save(page).click();
  await expect(card.getByText(/^Paused until \d/)).toBeVisible();
  const { tradingPausedUntil } = await storedSettings(page, user.id);
  const hours = (Date.parse(String(tradingPausedUntil)) - Date.now()) / 3_600_000;
  expect(Math.round(hours)).toBe(24);

  await paused(page).fill('2020-01-01T00:00');
  await save(page).click();
  await expect(card.getByText('The end of the pause must lie in the future')).toBeVisible();
  expect((await storedSettings(page, user.id)).tradingPausedUntil).toBe(tradingPausedUntil);
});

test('administrators reach the automation of their own account without a warning about other users', async ({
  page,
  operator,
  signIn,
}) => {
  const admin = await operator.createUser({ isAdmin: true });
  await signIn(page, admin);
  await page.goto('/settings');
  await expect(connectionCard(page)).toBeVisible();
  await expect(automationCard(page)).toHaveCount(0);
  await page.getByRole('link', { name: 'Automation settings' }).click();
  await expect(page).toHaveURL(`/settings?userId=${admin.id}`);
  await expect(pageTitle(page, `User Settings - ${admin.username}`)).toBeVisible();
  await expect(page.getByText('Admin Mode')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Change Password' })).toBeVisible();
  await expect(accountStatusCard(page)).toHaveCount(0);

  await automationCard(page).getByLabel('Trade order set').selectOption('Q');
  await save(page).click();
  await expectToast(page, {
    title: 'Settings Updated',
    text: 'Your settings have been saved successfully.',
  });
  expect((await storedSettings(page, admin.id)).tradeOrderSet).toBe('Q');

  await page.goto(`/settings?userId=${admin.id.toUpperCase()}`);
  await expect(automationCard(page).getByLabel('Trade order set')).toHaveValue('Q');
  await expect(page.getByText('Admin Mode')).toHaveCount(0);
  await page.getByRole('link', { name: 'Back to Users' }).click();
  await expect(pageTitle(page, 'Users')).toBeVisible();
});

// Requirements: accounts-states-5, accounts-messages-15
test('deactivates and reactivates a user after a confirmation', async ({ page, operator }) => {
  const user = await operator.createUser();
  await page.goto(`/settings?userId=${user.id}`);
  const card = accountStatusCard(page);
  await card.getByRole('button', { name: 'Deactivate' }).click();
  const question = dialog(page, 'Deactivate User');
  await expect(question).toContainText(user.username);
  await expect(question).toContainText('Inactive users cannot log in');
  await question.getByRole('button', { name: 'Deactivate User' }).click();
  await expectToast(page, { title: 'User Deactivated', text: 'User is inactive' });
  await expect(card.getByText('Inactive', { exact: true })).toBeVisible();
  await card.getByRole('button', { name: 'Reactivate' }).click();
  await dialog(page, 'Reactivate User').getByRole('button', { name: 'Reactivate User' }).click();
  await expectToast(page, { title: 'User Reactivated', text: 'User is active' });
  await expect(card.getByText('Active', { exact: true })).toBeVisible();
});

test('a confirmation whose code cannot be loaded reports it and opens once it can', async ({
  page,
  operator,
  expectFailure,
}) => {
  expectFailure({ path: '/assets/', status: 'network' });
  const user = await operator.createUser();
  await page.route('**/confirm-dialog-view-*.js', (route) => route.abort());
  await page.goto(`/settings?userId=${user.id}`);
  await accountStatusCard(page).getByRole('button', { name: 'Deactivate' }).click();
  await expectToast(page, { title: 'Error', text: 'The dialog could not be loaded' });
  await page.unroute('**/confirm-dialog-view-*.js');
  await accountStatusCard(page).getByRole('button', { name: 'Deactivate' }).click();
  await expect(dialog(page, 'Deactivate User')).toContainText(user.username);
});
