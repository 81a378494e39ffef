import { PAGES } from '#contract/pages.ts';
import { expect, test } from './fixtures.ts';
import { pageTitle } from './screen.ts';

const ADMIN_PAGES = PAGES.filter(({ adminOnly }) => adminOnly);

// Requirements: screens-session-states-4, screens-header-3, screens-routes-1
// Requirements: screens-dashboard-and-admin-dashboard-1, screens-dashboard-and-admin-dashboard-2
// Requirements: screens-dashboard-and-admin-dashboard-3, accounts-roles-2, webhook-deliveries-1
test('an ordinary user sees the dashboard, the own settings and the own webhook', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/');
  await expect(pageTitle(page, `Welcome, ${user.username}`)).toBeVisible();
  const header = page.getByRole('banner');
  await expect(header.getByRole('navigation', { name: 'Main' }).getByRole('link')).toHaveText([
    'Dashboard',
    'Webhook',
  ]);
  await expect(header.getByRole('link', { name: 'Admin', exact: true })).toHaveCount(0);
  await expect(
    header.getByRole('button', { name: /Live Trading|PROD|Dev Mode|UNKNOWN|Loading/ }),
  ).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Admin Dashboard' })).toHaveCount(0);
  for (const text of ['Online', 'Active', 'User']) {
    await expect(page.getByText(text, { exact: true })).toBeVisible();
  }

  await page.getByRole('link', { name: 'User Settings' }).click();
  await expect(pageTitle(page, 'User Settings')).toBeVisible();
  await expect(page.getByText('Trading settings')).toBeVisible();

  await header.getByRole('link', { name: 'Webhook' }).click();
  await expect(pageTitle(page, 'Webhook Configuration')).toBeVisible();
  await expect(page.getByText('No Webhook Configured')).toBeVisible();
});

// Requirements: screens-routes-3, screens-routes-4, accounts-roles-3, accounts-messages-17
// Requirements: trading-roles-1
test('an ordinary user meets the not-found page at every path of administrators', async ({
  page,
  operator,
  signIn,
}) => {
  await signIn(page, await operator.createUser());
  for (const path of [...ADMIN_PAGES.map((entry) => entry.path), '/no-such-page']) {
    await page.goto(path);
    await expect(pageTitle(page, 'Page Not Found')).toBeVisible();
  }
  await page.getByRole('link', { name: 'Back to Dashboard' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});

// Requirements: screens-routes-2, screens-dashboard-and-admin-dashboard-4, sign-in-and-sessions-18
test('the admin dashboard opens for an ordinary user, without cards', async ({ page, operator, signIn }) => {
  await signIn(page, await operator.createUser());
  await page.goto('/admin');
  await expect(pageTitle(page, 'Admin Dashboard')).toBeVisible();
  await expect(page.getByText('System Overview')).toBeVisible();
  for (const text of ['Active', 'Real-time', 'Secure']) {
    await expect(page.getByText(text, { exact: true })).toBeVisible();
  }
  await expect(page.getByRole('main').getByRole('link')).toHaveText(['Back to Main']);
});

// Requirements: screens-user-settings-2
test("another user's settings stay closed to an ordinary user", async ({
  page,
  operator,
  signIn,
  server,
}) => {
  const [user, other] = [await operator.createUser(), await operator.createUser()];
  await signIn(page, user);
  await page.goto(`/settings?userId=${other.id}`);
  await expect(pageTitle(page, 'User Settings')).toBeVisible();
  await expect(page.getByRole('main')).toContainText(user.username);
  await expect(page.getByRole('main')).not.toContainText(other.username);
  const answer = await page.request.get(`${server.url}/api/admin/user-settings/${other.id}`);
  expect(answer.status()).toBe(403);
});

// Requirements: screens-session-states-4, screens-header-3, screens-routes-4, screens-routes-5
// Requirements: screens-dashboard-and-admin-dashboard-2, screens-dashboard-and-admin-dashboard-3
// Requirements: screens-dashboard-and-admin-dashboard-4, accounts-roles-6, webhook-deliveries-1
test('an administrator reaches every screen from the admin dashboard', async ({ page, signIn, server }) => {
  await signIn(page);
  await page.goto('/');
  await expect(page.getByText('Admin', { exact: true })).toHaveCount(2);
  await page.getByRole('main').getByRole('link', { name: 'Admin Dashboard' }).click();
  await expect(pageTitle(page, 'Admin Dashboard')).toBeVisible();
  await page.goBack();
  await page.getByRole('banner').getByRole('link', { name: 'Admin', exact: true }).click();
  await expect(pageTitle(page, 'Admin Dashboard')).toBeVisible();
  for (const [card, title] of [
    ['Price Logs', 'Price Logs'],
    ['Signals', 'Trading Signals'],
    ['Configuration', 'Webhook Configuration'],
    ['Users', 'Users'],
    ['Workflows', 'Automation Workflows'],
  ] as const) {
    await page.getByRole('main').getByRole('link', { name: card, exact: true }).click();
    await expect(pageTitle(page, title)).toBeVisible();
    await page.goBack();
  }
  await page.getByRole('link', { name: 'Back to Main' }).click();
  await expect(page).toHaveURL(`${server.url}/`);

  await page.goto('/no-such-page');
  await expect(pageTitle(page, 'Page Not Found')).toBeVisible();
});

// Requirements: screens-header-9, screens-routes-6
test('the admin dashboard has a card for each active page of administrators, and no other', async ({
  page,
  signIn,
}) => {
  await signIn(page);
  await page.goto('/admin');
  const cards = page.getByRole('main').getByRole('link').filter({ hasNotText: 'Back to Main' });
  await expect(cards.first()).toBeVisible();
  const shown = await cards.allTextContents();
  const active = ADMIN_PAGES.filter((entry) => entry.active);
  const missing = active.filter((entry) => !shown.includes(entry.displayName));
  expect(shown).toEqual(active.filter((entry) => !missing.includes(entry)).map((entry) => entry.displayName));
  // Only a page without a screen has no card.
  for (const { path } of missing) {
    await page.goto(path);
    await expect(pageTitle(page, 'Page Not Found')).toBeVisible();
  }
});

// Requirements: screens-header-6
test('the header works by keyboard alone', async ({ page, signIn, server }) => {
  await signIn(page);
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome/)).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();

  await page.getByRole('button', { name: server.adminUsername }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Settings' })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('menuitem', { name: 'Sign Out' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('menu')).toHaveCount(0);
  await expect(page.getByRole('button', { name: server.adminUsername })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await expect(pageTitle(page, 'User Settings')).toBeVisible();
});
