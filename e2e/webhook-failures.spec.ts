import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { NewUser } from './operator.ts';
import { dialog, expectToast, tableRows, withoutLiveUpdates } from './screen.ts';
import {
  confirmPassword,
  createWebhook,
  deleteElsewhere,
  deliveriesRefresh,
  holdBack,
  keyField,
} from './webhook-screen.ts';

let user: NewUser;

test.beforeEach(async ({ page, operator, signIn, expectFailure }) => {
  expectFailure({ path: '/api/', status: 'network' });
  user = await operator.createUser();
  await signIn(page, user);
});

const RENEWAL = { button: 'Renew Key', title: 'Confirm Renewal', confirm: 'Confirm Renewal' };
const DELETION = { button: 'Delete', title: 'Confirm Deletion', confirm: 'Confirm Deletion' };

async function openConfirmation(page: Page, { button }: { button: string }) {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

async function openScreen(page: Page) {
  await page.goto('/webhook');
  await createWebhook(page);
}

// Requirements: screens-webhook-configuration-2
test('the webhook loads with a skeleton, and when it cannot be fetched it can be tried again', async ({
  page,
}) => {
  await page.goto('/webhook');
  await createWebhook(page);
  const release = await holdBack(page, '**/api/hooks');
  await page.reload();
  await expect(page.getByRole('status', { name: 'Loading...' })).toBeVisible();
  release();
  await expect(keyField(page)).toBeVisible();
  await page.unroute('**/api/hooks');

  await page.route('**/api/hooks', (route) => route.abort());
  await page.reload();
  const failed = page.getByRole('alert').filter({ hasText: 'Failed to fetch webhooks' });
  await expect(failed).toBeVisible();
  await page.unroute('**/api/hooks');
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect(keyField(page)).toBeVisible();
  await expect(failed).toBeHidden();
});

// Requirements: accounts-messages-6
test('a webhook that cannot be created says so, and is created on the next try', async ({ page }) => {
  await page.goto('/webhook');
  await expect(page.getByRole('button', { name: 'Create Webhook' })).toBeVisible();
  await page.route('**/api/hooks', (route) => route.abort());
  await page.getByRole('button', { name: 'Create Webhook' }).click();
  await expectToast(page, { title: 'Error', text: 'Failed to create webhook' });
  await page.unroute('**/api/hooks');
  await createWebhook(page);
});

for (const { text, ...change } of [
  { ...RENEWAL, text: 'Failed to renew webhook' },
  { ...DELETION, text: 'Failed to delete webhook' },
]) {
  // Requirements: accounts-messages-6
  test(`without an answer: '${text}', and the dialog stays for another try`, async ({ page }) => {
    await withoutLiveUpdates(page);
    await openScreen(page);
    await openConfirmation(page, change);
    await page.route('**/api/hooks/*', (route) => route.abort());
    await confirmPassword(page, { ...change, password: user.password });
    await expectToast(page, { title: 'Error', text });
    await page.unroute('**/api/hooks/*');
    await dialog(page, change.title).getByRole('button', { name: change.confirm }).click();
    await expect(dialog(page, change.title)).toBeHidden();
  });
}

for (const { text, ...change } of [
  { ...RENEWAL, text: 'No webhook to renew' },
  { ...DELETION, text: 'No webhook to delete' },
]) {
  // Requirements: accounts-messages-7
  test(`deleted in another tab before the warning: '${text}'`, async ({ page, server, expectFailure }) => {
    expectFailure({ path: '/api/hooks/', status: 404 });
    await withoutLiveUpdates(page);
    await openScreen(page);
    await deleteElsewhere(page, { origin: server.url, password: user.password });
    await page.getByRole('button', { name: change.button }).click();
    await expect(page.getByText('No Webhook Configured')).toBeVisible();
    await page.getByRole('button', { name: 'Continue' }).click();
    await confirmPassword(page, { ...change, password: user.password });
    await expectToast(page, { title: 'Error', text });
    await expect(page.getByRole('dialog')).toHaveCount(0);
  });
}

for (const change of [RENEWAL, DELETION]) {
  // Requirements: accounts-messages-6
  test(`deleted in another tab behind the open dialog '${change.title}': the server's message`, async ({
    page,
    server,
    expectFailure,
  }) => {
    expectFailure({ path: '/api/hooks/', status: 404 });
    await withoutLiveUpdates(page);
    await openScreen(page);
    await openConfirmation(page, change);
    await deleteElsewhere(page, { origin: server.url, password: user.password });
    await confirmPassword(page, { ...change, password: user.password });
    await expectToast(page, { title: 'Error', text: 'Webhook not found' });
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(page.getByText('No Webhook Configured')).toBeVisible();
  });
}

// Requirements: screens-webhook-configuration-12
test('while the server works the buttons say what it does and cannot be pressed again', async ({ page }) => {
  await page.goto('/webhook');
  const create = page.getByRole('button', { name: 'Create Webhook' });
  await expect(create).toBeVisible();
  const hold = async (url: string, press: () => Promise<void>, label: string) => {
    const release = await holdBack(page, url);
    await press();
    await expect(page.getByRole('button', { name: label, exact: true })).toBeDisabled();
    release();
    await expect(page.getByRole('button', { name: label, exact: true })).toBeHidden();
    await page.unroute(url);
  };
  await hold('**/api/hooks', () => create.click(), 'Creating...');
  await page.reload();
  await page.getByRole('button', { name: 'Show key' }).click();
  await hold(
    '**/api/auth/verify-password',
    () => confirmPassword(page, { title: 'View Key', confirm: 'View Key', password: user.password }),
    'Verifying...',
  );
  for (const { label, ...change } of [
    { ...RENEWAL, label: 'Renewing...' },
    { ...DELETION, label: 'Deleting...' },
  ]) {
    await openConfirmation(page, change);
    await hold('**/api/hooks/*', () => confirmPassword(page, { ...change, password: user.password }), label);
  }
});

// Requirements: screens-webhook-configuration-11
test('a password that is being verified keeps its dialog, so that nothing is shown or copied behind it', async ({
  page,
}) => {
  await openScreen(page);
  await page.reload();
  await page.getByRole('button', { name: 'Show key' }).click();
  const release = await holdBack(page, '**/api/auth/verify-password');
  await confirmPassword(page, { title: 'View Key', confirm: 'View Key', password: user.password });
  const form = dialog(page, 'View Key');
  await expect(form.getByRole('button', { name: 'Verifying...' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await page.mouse.click(20, 400);
  await form.getByRole('button', { name: 'Close dialog' }).click();
  await expect(form).toBeVisible();
  release();
  await expectToast(page, { title: 'Access Granted', text: 'Webhook key is now visible.' });
  await expect(form).toBeHidden();
});

test('a password that could not be verified is not called wrong', async ({ page }) => {
  await openScreen(page);
  await page.reload();
  await page.getByRole('button', { name: 'Show key' }).click();
  await page.route('**/api/auth/verify-password', (route) => route.abort());
  const view = { title: 'View Key', confirm: 'View Key', password: user.password };
  await confirmPassword(page, view);
  await expectToast(page, { title: 'Access Denied', text: 'The password could not be verified' });
  await page.unroute('**/api/auth/verify-password');

  await page.route('**/api/hooks', (route) => route.abort());
  await confirmPassword(page, view);
  await expectToast(page, { title: 'Error', text: 'Failed to fetch webhooks' });
  await expect(dialog(page, 'View Key')).toBeHidden();
  await expect(keyField(page)).toHaveValue(/^.{4}…$/);
});

for (const { status, body, text } of [
  { status: 500, body: '', text: 'The password could not be verified' },
  { status: 502, body: '<h1>Bad Gateway</h1>', text: 'The password could not be verified' },
  { status: 500, body: '{"message":"Internal server error"}', text: 'Internal server error' },
  { status: 403, body: '', text: 'Invalid password' },
  { status: 403, body: '{"message":"This account may not do that"}', text: 'This account may not do that' },
]) {
  // Requirements: accounts-messages-8
  test(`a verification answered ${status} with '${body}' says '${text}'`, async ({ page, expectFailure }) => {
    expectFailure({ path: '/api/auth/verify-password', status });
    await openScreen(page);
    await page.getByRole('button', { name: 'Show key' }).click();
    await page.route('**/api/auth/verify-password', (route) => route.fulfill({ status, body }));
    await confirmPassword(page, { title: 'View Key', confirm: 'View Key', password: user.password });
    await expectToast(page, { title: 'Access Denied', text });
    await expect(dialog(page, 'View Key')).toBeVisible();
    await expect(keyField(page)).toHaveValue(/^.{4}…$/);
  });
}

test('after too many wrong passwords each of the three dialogs says so', async ({
  page,
  server,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 429 });
  await openScreen(page);
  await page.reload();
  for (let times = 0; times < 20; times += 1) {
    await page.request.post('/api/auth/verify-password', {
      data: { password: 'not the password' },
      headers: { origin: server.url },
    });
  }
  const text = 'Too many failed attempts. Try again later.';
  await page.getByRole('button', { name: 'Show key' }).click();
  await confirmPassword(page, { title: 'View Key', confirm: 'View Key', password: user.password });
  await expectToast(page, { title: 'Access Denied', text });
  await dialog(page, 'View Key').getByRole('button', { name: 'Cancel' }).click();
  for (const change of [RENEWAL, DELETION]) {
    await openConfirmation(page, change);
    await confirmPassword(page, { ...change, password: user.password });
    await expectToast(page, { title: 'Error', text });
    await dialog(page, change.title).getByRole('button', { name: 'Cancel' }).click();
  }
});

test('the delivery log loads, fails and comes back apart from the rest of the screen', async ({ page }) => {
  await openScreen(page);
  await page.getByRole('button', { name: 'Send test candle' }).click();
  const form = dialog(page, 'Send Test Candle');
  await form.getByRole('button', { name: 'Send' }).click();
  await expect(form.getByRole('alert')).toContainText('Stored');
  await form.getByRole('button', { name: 'Close', exact: true }).click();

  const table = page.getByRole('table', { name: 'Recent deliveries' });
  const release = await holdBack(page, '**/deliveries');
  await page.reload();
  await expect(table).toHaveAttribute('aria-busy', 'true');
  release();
  await expect(tableRows(page, 'Recent deliveries')).toHaveCount(1);
  await page.unroute('**/deliveries');

  await page.route('**/deliveries', (route) => route.abort());
  const failed = page.getByRole('alert').filter({ hasText: 'Failed to fetch deliveries' });
  await deliveriesRefresh(page).click();
  await expect(failed).toBeVisible();
  await expect(tableRows(page, 'Recent deliveries')).toHaveCount(1);
  await page.reload();
  await expect(failed).toBeVisible();
  await expect(table).toBeHidden();
  await expect(keyField(page)).toBeVisible();
  await page.unroute('**/deliveries');
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect(tableRows(page, 'Recent deliveries')).toHaveCount(1);
  await expect(failed).toBeHidden();
});

test('while the server is away nothing is lost, and test deliveries go through when it is back', async ({
  page,
  server,
}) => {
  await openScreen(page);
  await page.getByRole('button', { name: 'Send test signal' }).click();
  const form = dialog(page, 'Send Test Signal');
  const send = form.getByRole('button', { name: 'Send' });
  await expect(send).toBeVisible();
  await server.stop();
  await send.click();
  await expect(form.getByRole('alert')).toContainText('Failed to send the test signal');
  await server.start();
  await send.click();
  await expect(form.getByRole('alert')).toContainText('The signal was stored.');
  await form.getByRole('button', { name: 'Close', exact: true }).click();
  await deliveriesRefresh(page).click();
  await expect(tableRows(page, 'Recent deliveries')).toHaveCount(1);
  await expect(page.getByRole('main').getByRole('alert').filter({ hasText: 'Failed' })).toHaveCount(0);
});
