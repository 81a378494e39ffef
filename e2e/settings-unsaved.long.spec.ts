import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog, expectToast, pageTitle } from './screen.ts';

const question = (page: Page) => dialog(page, 'You have unsaved changes');
const processor = (page: Page) => page.getByLabel('Signal processor');
const changed = (page: Page) => expect(processor(page)).toHaveValue('UD Bot');

async function changeSomething(page: Page) {
  // Browsers ask before closing a tab only after a click in it.
  await processor(page).click();
  await page.keyboard.press('Escape');
  await processor(page).selectOption('UD Bot');
  await expect(page.getByRole('button', { name: 'Discard' }).first()).toBeEnabled();
}

test('the browser asks when the code of the dialog cannot be loaded', async ({
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
test('closing or reloading the tab asks only while changes are unsaved', async ({
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
  // A dismissed reload never settles.
  void page.reload().catch(() => {});
  await expect.poll(() => asked).toEqual(['beforeunload']);
  await changed(page);

  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Settings Updated' });
  await page.reload();
  await changed(page);
  expect(asked).toEqual(['beforeunload']);
});

test('an ended session leads to the sign-in screen once, without asking about unsaved changes', async ({
  user,
  page,
  operator,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 401 });
  // The page hears of the end by its own change, not by what it reads by itself meanwhile.
  await page.route('**/api/events*', () => {});
  await page.goto('/settings');
  await changeSomething(page);
  await page.route('**/api/**', (route) =>
    route.request().method() === 'GET' ? undefined : route.continue(),
  );
  await operator.setActive(user.id, false);
  let calls = 0;
  page.on('request', (request) => {
    if (request.url().includes('/api/')) calls += 1;
  });
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await expect(question(page)).toBeHidden();
  await page.unroute('**/api/**');
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
