import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog, expectToast, pageTitle } from './screen.ts';
import { automationCard, connectionCard } from './settings-screen.ts';

const question = (page: Page) => dialog(page, 'You have unsaved changes');
const answer = (page: Page, name: 'Stay' | 'Leave') => question(page).getByRole('button', { name }).click();
const processor = (page: Page) => page.getByLabel('Signal processor');
const changed = (page: Page) => expect(processor(page)).toHaveValue('UD Bot');

async function changeSomething(page: Page) {
  // A browser only asks before it closes a tab that somebody has clicked in.
  await processor(page).click();
  await page.keyboard.press('Escape');
  await processor(page).selectOption('UD Bot');
  await expect(page.getByRole('button', { name: 'Discard' }).first()).toBeEnabled();
}

// Requirements: screens-user-settings-9
test('a link asks before unsaved changes are lost', async ({ page, operator, signIn }) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  await changeSomething(page);
  const away = page.getByRole('main').getByRole('link', { name: 'Webhook' });
  await away.click();
  await expect(question(page)).toBeVisible();
  await expect(question(page).getByRole('button', { name: 'Stay' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(question(page)).toBeHidden();
  await changed(page);
  await away.click();
  await page.keyboard.press('Escape');
  await expect(question(page)).toBeHidden();
  await expect(page).toHaveURL('/settings');
  await changed(page);

  await away.click();
  await answer(page, 'Leave');
  await expect(pageTitle(page, 'Webhook Configuration')).toBeVisible();
  await page.goBack();
  await expect(processor(page)).toHaveValue('Tesla');
});

test('the browser itself asks where the code of the question cannot be loaded', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/assets/', status: 'network' });
  await signIn(page, await operator.createUser());
  await page.route('**/unsaved-changes-dialog-*.js', (route) => route.abort());
  await page.goto('/settings');
  await changeSomething(page);
  const away = page.getByRole('main').getByRole('link', { name: 'Webhook' });
  const leaving = [false, true];
  const questions: string[] = [];
  page.on('dialog', async (asked) => {
    questions.push(asked.message());
    await (leaving[questions.length - 1] ? asked.accept() : asked.dismiss());
  });
  await away.click();
  await expect.poll(() => questions).toEqual([expect.stringContaining('You have unsaved changes')]);
  await expect(page).toHaveURL('/settings');
  await changed(page);
  await away.click();
  await expect(pageTitle(page, 'Webhook Configuration')).toBeVisible();
});

// Requirements: screens-user-settings-9
test('the back button asks too', async ({ page, operator, signIn }) => {
  await signIn(page, await operator.createUser());
  await page.goto('/');
  await page.getByRole('link', { name: 'User Settings' }).click();
  await changeSomething(page);
  await page.goBack();
  await expect(question(page)).toBeVisible();
  await answer(page, 'Stay');
  await expect(page).toHaveURL('/settings');
  await changed(page);
  await page.goBack();
  await answer(page, 'Leave');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await expect(page).toHaveURL('/');
});

// Requirements: screens-user-settings-9
test('signing out asks too', async ({ page, operator, signIn }) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await changeSomething(page);
  const leave = async () => {
    await page.getByRole('button', { name: user.username }).click();
    await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  };
  await leave();
  await answer(page, 'Stay');
  await changed(page);
  expect((await page.request.get('/api/auth/user')).status()).toBe(200);
  await leave();
  await answer(page, 'Leave');
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  expect((await page.request.get('/api/auth/user')).status()).toBe(401);
});

// Requirements: screens-user-settings-9
test('closing or reloading the tab asks, and only while something is unsaved', async ({
  page,
  operator,
  signIn,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const asked: string[] = [];
  page.on('dialog', (native) => {
    asked.push(native.type());
    void native.dismiss();
  });
  await changeSomething(page);
  // The dismissed reload never ends.
  void page.reload().catch(() => {});
  await expect.poll(() => asked).toEqual(['beforeunload']);
  await changed(page);

  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Settings Updated' });
  await page.reload();
  await changed(page);
  expect(asked).toEqual(['beforeunload']);
});

test("another user's settings are other settings", async ({ page, operator, signIn, server }) => {
  const user = await operator.createUser();
  await signIn(page);
  await page.goto(`/settings?userId=${user.id}`);
  await automationCard(page).getByLabel('Trade order set').selectOption('B');
  const own = async () => {
    await page.getByRole('button', { name: server.adminUsername }).click();
    await page.getByRole('menuitem', { name: 'Settings' }).click();
  };
  await own();
  await answer(page, 'Stay');
  await expect(automationCard(page).getByLabel('Trade order set')).toHaveValue('B');
  await own();
  await answer(page, 'Leave');
  await expect(page).toHaveURL('/settings');
  await expect(pageTitle(page, /^User Settings$/)).toBeVisible();
});

test('a secret that was typed counts, a dialog that opens does not', async ({ page, operator, signIn }) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  await connectionCard(page).getByLabel('API secret', { exact: true }).fill('half a secret');
  await page.getByRole('button', { name: 'Change Password' }).click();
  await expect(dialog(page, 'Change Password')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page, 'Change Password')).toBeHidden();
  await expect(question(page)).toBeHidden();
  await page.getByRole('link', { name: 'Signal Board' }).click();
  await answer(page, 'Stay');
  await expect(connectionCard(page).getByLabel('API secret', { exact: true })).toHaveValue('half a secret');
  await connectionCard(page).getByLabel('API secret', { exact: true }).fill('');
  await page.getByRole('link', { name: 'Signal Board' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});

test('what is saved or discarded does not hold anybody back', async ({ page, operator, signIn }) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  await changeSomething(page);
  await page.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('link', { name: 'Signal Board' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await page.getByRole('link', { name: 'User Settings' }).click();
  await changeSomething(page);
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Settings Updated' });
  await page.getByRole('link', { name: 'Signal Board' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});

test('a session that has ended leads to the sign-in screen once, and holds nobody back', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 401 });
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await changeSomething(page);
  await operator.setActive(user.id, false);
  let calls = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/')) calls += 1;
  });
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await expect(question(page)).toBeHidden();
  const asked: string[] = [];
  page.on('dialog', (native) => {
    asked.push(native.type());
    void native.accept();
  });
  const before = calls;
  await page.reload();
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  expect(asked).toEqual([]);
  expect(before).toBeLessThanOrEqual(3);
});
