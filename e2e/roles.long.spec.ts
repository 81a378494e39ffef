import { expect, test } from './fixtures.ts';
import { pageTitle } from './screen.ts';

// Requirements: screens-session-states-4, screens-header-3, screens-routes-4, screens-routes-5
// Requirements: screens-dashboard-and-admin-dashboard-2, screens-dashboard-and-admin-dashboard-3
// Requirements: screens-dashboard-and-admin-dashboard-4, accounts-roles-6, webhook-deliveries-1
test('an administrator reaches every screen from the admin dashboard', async ({ page, server }) => {
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

// Requirements: screens-header-6
test('the header works with only the keyboard', async ({ page, server }) => {
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
