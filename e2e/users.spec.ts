import { expect, test } from './fixtures.ts';
import { dialog, expectToast, tableRow, tableRows } from './screen.ts';
import { uniqueName } from './unique.ts';

test.beforeEach(async ({ page, signIn }) => {
  await signIn(page);
});

test('the form says what is wrong with each field', async ({ page }) => {
  await page.goto('/create-client');
  await page.getByRole('button', { name: 'Create New User' }).click();
  const form = dialog(page, 'Create New User');
  const username = form.getByLabel('Username');
  const password = form.getByLabel(/^Password/);
  const create = form.getByRole('button', { name: 'Create User' });

  await create.click();
  await expect(form.getByText('Username must be at least 3 characters')).toBeVisible();
  await expect(form.getByText('Password must be at least 6 characters')).toBeVisible();

  await username.fill(`${'a'.repeat(50)}@example.com`);
  await password.fill('p'.repeat(101));
  await form.getByLabel(/^Confirm Password/).fill('something else');
  await form.getByLabel('Country Code').fill('49');
  await form.getByLabel('Mobile Number').fill('0170-123');
  await create.click();
  await expect(form.getByText('Username must be less than 50 characters')).toBeVisible();
  await expect(form.getByText('Password must be less than 100 characters')).toBeVisible();
  await expect(form.getByText("Passwords don't match")).toBeVisible();
  await expect(form.getByText('Country code must start with + followed by digits')).toBeVisible();
  await expect(form.getByText('Mobile number must contain only digits')).toBeVisible();

  await username.fill('not an address');
  await create.click();
  await expect(form.getByText('Please enter a valid email address')).toBeVisible();
  await expect(form.getByLabel('Administrator')).not.toBeChecked();
});

test('a created user stands in the table with all that was entered, and a second one of the name is refused', async ({
  page,
  expectFailure,
}) => {
  const name = `${uniqueName('carol')}@example.com`;
  await page.goto('/create-client?dialog=create');
  const form = dialog(page, 'Create New User');
  const fillIn = async () => {
    await form.getByLabel('Username').fill(name);
    await form.getByLabel(/^Password/).fill('carol, carol');
    await form.getByLabel(/^Confirm Password/).fill('carol, carol');
    await form.getByLabel('First Name').fill('Carol');
    await form.getByLabel('Last Name').fill('Jones');
    await form.getByLabel('Country Code').fill('+49');
    await form.getByLabel('Mobile Number').fill('170123');
    await form.getByLabel('Administrator').check();
    await form.getByRole('button', { name: 'Create User' }).click();
  };
  await fillIn();
  await expectToast(page, { title: 'User Created Successfully', text: name });
  await expect(form).toBeHidden();
  const row = tableRow(page, 'Users', name);
  for (const text of ['Carol Jones', '+49 170123', 'Admin', 'Technical Analysis', 'Active']) {
    await expect(row).toContainText(text);
  }
  await expect(row.getByRole('cell').first()).toHaveText(/^[0-9a-f]{4}\.\.\.[0-9a-f]{4}$/);

  expectFailure({ path: '/api/admin/create-client', status: 409 });
  await page.getByRole('button', { name: 'Create New User' }).click();
  await fillIn();
  await expectToast(page, {
    title: 'Failed to Create User',
    text: 'A user with this username already exists',
  });
  await expect(form).toBeVisible();
});

test('active trading is switched after a warning that live trading is affected', async ({
  page,
  operator,
}) => {
  const { username } = await operator.createUser();
  await page.goto('/create-client');
  const trading = page.getByRole('switch', { name: `Active trading of ${username}` });
  await expect(trading).not.toBeChecked();

  await trading.click({ force: true });
  const enabling = dialog(page, 'Enable Active Trading');
  await expect(enabling).toContainText(`Enable active trading for ${username}?`);
  await expect(enabling).toContainText(
    'This affects live trading: the system will execute positions automatically for this user when signals arrive.',
  );
  await enabling.getByRole('button', { name: 'Cancel' }).click();
  await expect(enabling).toBeHidden();
  await expect(trading).not.toBeChecked();

  await trading.click({ force: true });
  await enabling.getByRole('button', { name: 'Enable Trading' }).click();
  await expectToast(page, { title: 'Active Trading Updated' });
  await expect(trading).toBeChecked();

  await trading.click({ force: true });
  const disabling = dialog(page, 'Disable Active Trading');
  await expect(disabling).toContainText('all automated execution for this user stops');
  await disabling.getByRole('button', { name: 'Disable Trading' }).click();
  await expect(trading).not.toBeChecked();
  await page.reload();
  await expect(trading).not.toBeChecked();
});

test('a user is deactivated and activated after a confirmation, and the inactive ones can be left out', async ({
  page,
  operator,
  server,
}) => {
  const { username } = await operator.createUser();
  await page.goto('/create-client');
  await page.getByRole('switch', { name: `Status of ${username}: Active` }).click({ force: true });
  const deactivating = dialog(page, 'Deactivate User');
  await expect(deactivating).toContainText('Inactive users cannot log in');
  await expect(deactivating).toContainText('Their data is kept');
  await deactivating.getByRole('button', { name: 'Deactivate User' }).click();
  await expectToast(page, { title: 'User Status Updated' });
  await expect(tableRow(page, 'Users', username)).toContainText('Inactive');

  await page.getByRole('switch', { name: 'Include inactive' }).click({ force: true });
  await expect(page).toHaveURL(`${server.url}/create-client?includeInactive=false`);
  await expect(tableRow(page, 'Users', username)).toHaveCount(0);
  await page.reload();
  await expect(tableRow(page, 'Users', '@example.com').first()).toBeVisible();
  await expect(tableRow(page, 'Users', username)).toHaveCount(0);

  await page.getByRole('switch', { name: 'Include inactive' }).click({ force: true });
  await page.getByRole('switch', { name: `Status of ${username}: Inactive` }).click({ force: true });
  const activating = dialog(page, 'Activate User');
  await expect(activating).toContainText('The user will be able to log in again.');
  await activating.getByRole('button', { name: 'Activate User' }).click();
  await expect(page.getByRole('switch', { name: `Status of ${username}: Active` })).toBeChecked();
});

test('there are ten users on a page, and administrators cannot switch themselves off', async ({
  page,
  operator,
  server,
}) => {
  while ((await operator.countUsers()) < 12) await operator.createUser();
  const total = await operator.countUsers();
  const pages = Math.ceil(total / 10);
  await page.goto('/create-client');
  const rows = tableRows(page, 'Users');
  await expect(rows.first()).toContainText('@');
  await expect(rows).toHaveCount(10);
  await expect(page.getByText(`${total} users`)).toBeVisible();
  const pager = page.getByRole('navigation', { name: 'Pagination' });
  await expect(pager).toContainText(`Page 1 of ${pages}`);
  await expect(pager.getByRole('button', { name: 'Previous' })).toBeDisabled();
  await pager.getByRole('button', { name: 'Next' }).click();
  await expect(page).toHaveURL(`${server.url}/create-client?page=2`);

  // The first administrator is the oldest user and stands last.
  await page.goto(`/create-client?page=${pages}`);
  await expect(rows).toHaveCount(total % 10 || 10);
  await expect(pager.getByRole('button', { name: 'Next' })).toBeDisabled();
  const own = page.getByRole('switch', { name: `Status of ${server.adminUsername}: Active` });
  await expect(own).toBeDisabled();
  await own.locator('xpath=ancestor::*[@data-tip]').hover();
  await expect(page.getByRole('tooltip')).toHaveText('You cannot deactivate your own account');
});

test("a row leads to the user's settings, and back to the admin dashboard", async ({
  page,
  operator,
  server,
}) => {
  const user = await operator.createUser();
  await page.goto('/create-client');
  await page.getByRole('link', { name: `Settings of ${user.username}` }).click();
  await expect(page).toHaveURL(`${server.url}/settings?userId=${user.id}`);
  await page.goBack();
  await expect(page.getByText('About users')).toBeVisible();
  await page.getByRole('link', { name: 'Back to Admin' }).click();
  await expect(page).toHaveURL(`${server.url}/admin`);
});
