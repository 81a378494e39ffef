import { expect, test } from './fixtures.ts';
import { dialog, loadBelow, pageTitle, tableRow, tableRows } from './screen.ts';

test('the creation of a user is in the audit trail, with who did it', async ({ page, server, operator }) => {
  const user = await operator.createUser();
  await page.goto('/audit');
  const row = tableRow(page, 'Audit Trail', user.username).filter({ hasText: 'User created' });
  await expect(row).toContainText(server.adminUsername);
  await row.getByRole('button').click();
  await expect(dialog(page, 'User created')).toContainText(user.id);
});

test('the audit trail is filtered, opened by keyboard and fits a phone', async ({
  page,
  server,
  operator,
  scan,
}) => {
  const user = await operator.createUser({ firstName: 'Ann' });

  await test.step('an administrator finds the entry among all', async () => {
    await page.goto('/');
    await page.getByRole('banner').getByRole('link', { name: 'Audit', exact: true }).click();
    await expect(pageTitle(page, 'Audit')).toBeVisible();
    const row = tableRow(page, 'Audit Trail', user.username).filter({ hasText: 'User created' });
    await expect(row).toContainText(server.adminUsername);
  });

  await test.step('filters leave only this entry', async () => {
    await page.getByLabel('Action', { exact: true }).selectOption('User created');
    await page.getByLabel('Actor', { exact: true }).fill(server.adminUsername);
    await page.getByLabel('Subject', { exact: true }).fill(user.username);
    await expect(tableRows(page, 'Audit Trail')).toHaveCount(1);
    await expect(tableRows(page, 'Audit Trail')).toContainText('User created');
    await page.reload();
    await expect(tableRows(page, 'Audit Trail')).toHaveCount(1);
    await scan('audit');
  });

  await test.step('the entry opens by keyboard with all its fields', async () => {
    await page.getByRole('button', { name: /^User created, / }).press('Enter');
    const entry = dialog(page, 'User created');
    await expect(entry).toContainText(server.adminUsername);
    await expect(entry).toContainText(user.id);
    await expect(entry.getByRole('table', { name: 'Before and after' })).toBeVisible();
    await scan('audit entry', entry);
    await page.keyboard.press('Escape');
    await expect(entry).toBeHidden();
  });

  await test.step('a time before the entry matches nothing', async () => {
    await page.getByLabel('To', { exact: true }).fill('2000-01-01T00:00');
    await expect(page.getByText('No entries match')).toBeVisible();
    await page.getByRole('button', { name: 'Clear Filters' }).click();
    await expect(tableRow(page, 'Audit Trail', user.username).first()).toBeVisible();
  });

  await test.step('a phone shows cards', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(page.getByRole('columnheader', { name: 'Time' })).toBeHidden();
    await scan('audit on a phone');
  });
});

test('sessions are ended and API tokens created and deleted in the settings', async ({
  page,
  user,
  openBrowser,
  signIn,
  scan,
  expectFailure,
}) => {
  const elsewhere = await openBrowser();
  await signIn(elsewhere, user);
  await elsewhere.goto('/settings');
  await page.goto('/settings');
  const sessions = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await loadBelow(page, sessions.first());
  await expect(sessions).toHaveCount(2);
  await expect(sessions.filter({ hasText: 'This session' })).toHaveCount(1);
  await scan('settings with sessions');

  await page.getByRole('button', { name: 'Sign out all others' }).click();
  const question = dialog(page, 'Sign Out All Others');
  await question.getByRole('button', { name: 'Sign out all others' }).click();
  await expect(sessions).toHaveCount(1);
  expectFailure({ path: '/api/auth/user', status: 401 });
  await elsewhere.reload();
  await expect(pageTitle(elsewhere, 'Welcome Back')).toBeVisible();

  await page.getByRole('button', { name: 'Create token' }).click();
  const form = dialog(page, 'Create API Token');
  await form.getByLabel('Name').fill('Backup script');
  await scan('create token', form);
  await form.getByRole('button', { name: 'Create token' }).click();
  const created = dialog(page, 'API Token Created');
  const token = await created.getByLabel('Token', { exact: true }).inputValue();
  expect(token).toMatch(/^sb_/);
  await scan('created token', created);
  await created.getByRole('button', { name: 'Done' }).click();

  const tokens = page.getByRole('list', { name: 'API tokens' }).getByRole('listitem');
  await expect(tokens).toContainText(['Backup script']);
  await expect(page.getByText(token)).toHaveCount(0);
  await page.getByRole('button', { name: /^Delete token Backup script/ }).click();
  await dialog(page, 'Delete API Token').getByRole('button', { name: 'Delete token' }).click();
  await expect(page.getByText('No API tokens')).toBeVisible();
});
