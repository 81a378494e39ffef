import { expect, test } from './fixtures.ts';
import { dialog, expectToast, tableRow } from './screen.ts';
import { uniqueName } from './unique.ts';

const PHONE = { countryCode: '+47', mobileNumber: '987654321' };
const LONG_NAME = 'Wolfeschlegelsteinhausenbergerdorff Montgomery-Featherstonehaugh';

// Requirements: screens-users-2, screens-users-3, screens-users-4, screens-users-5, accounts-messages-13
test('creates a user, switches trading, deactivates and activates', async ({ page, expectFailure }) => {
  const name = `${uniqueName('carol')}@example.com`;
  const row = tableRow(page, 'Users', name);
  const status = (text: string) => page.getByRole('switch', { name: `Status of ${name}: ${text}` });

  await test.step('the table shows every field that was entered', async () => {
    await page.goto('/create-client?dialog=create');
    const form = dialog(page, 'Create New User');
    await form.getByLabel('Username').fill(name);
    await form.getByLabel(/^Password/).fill('qwerty');
    await form.getByLabel(/^Confirm Password/).fill('qwerty');
    await form.getByLabel('First Name').fill('Carol');
    await form.getByLabel('Last Name').fill('Jones');
    await form.getByLabel('Country Code').fill('+49');
    await form.getByLabel('Mobile Number').fill('170123');
    expectFailure({ path: '/api/admin/create-client', status: 400 });
    await form.getByRole('button', { name: 'Create User' }).click();
    await expect(form.getByText('This is one of the most used passwords. Choose another one.')).toBeVisible();
    await form.getByLabel(/^Password/).fill('carol, carol');
    await form.getByLabel(/^Confirm Password/).fill('carol, carol');
    await form.getByLabel('Administrator').check();
    await form.getByRole('button', { name: 'Create User' }).click();
    await expectToast(page, { title: 'User Created Successfully', text: name });
    await expect(form).toBeHidden();
    const texts = ['Carol Jones', '+49 170123', 'Admin', 'Test', 'Technical Analysis · Bitget', 'Active'];
    for (const text of texts) await expect(row).toContainText(text);
    await expect(row.getByRole('cell').first()).toHaveText(/^[0-9a-f]{4}\.\.\.[0-9a-f]{4}$/);
  });

  await test.step('refuses a second user of the same name', async () => {
    const again = await page.request.post('/api/admin/create-client', {
      data: { username: name, password: 'carol, carol' },
    });
    expect(again.status()).toBe(409);
    expect(await again.json()).toMatchObject({ message: 'A user with this username already exists' });
  });

  await test.step('active trading is switched on and stays on', async () => {
    const trading = page.getByRole('switch', { name: `Active trading of ${name}` });
    await trading.click();
    await dialog(page, 'Enable Active Trading').getByRole('button', { name: 'Enable Trading' }).click();
    await expectToast(page, { title: 'Active Trading Updated', text: `${name}: Active trading is on` });
    await page.reload();
    await expect(trading).toBeChecked();
  });

  await test.step('the user is deactivated and activated', async () => {
    await status('Active').click();
    await dialog(page, 'Deactivate User').getByRole('button', { name: 'Deactivate User' }).click();
    await expectToast(page, { title: 'User Status Updated', text: `${name}: User is inactive` });
    await expect(row).toContainText('Inactive');
    await status('Inactive').click();
    await dialog(page, 'Activate User').getByRole('button', { name: 'Activate User' }).click();
    await expect(status('Active')).toBeChecked();
  });
});

// Requirements: screens-users-2, additions-everywhere-3
test('a long name is truncated with a full tooltip and breaks no screen width', async ({
  page,
  operator,
}) => {
  const username = `${uniqueName('featherstonehaugh.desk.london')}@example.com`;
  await operator.createUser({ username, firstName: LONG_NAME, lastName: LONG_NAME, ...PHONE });
  await page.goto(`/create-client?search=${encodeURIComponent(username)}`);
  const row = tableRow(page, 'Users', username);
  const trading = row.getByRole('switch', { name: `Active trading of ${username}` });
  await expect(row.getByRole('link')).toBeInViewport({ ratio: 1 });
  await expect(trading).toBeInViewport({ ratio: 1 });
  for (const text of [username, `${LONG_NAME} ${LONG_NAME}`]) {
    await row.getByText(text, { exact: true }).hover();
    await expect(page.getByRole('tooltip')).toHaveText(text);
  }
  const users = page.getByRole('region', { name: 'Users' });
  await page.setViewportSize({ width: 900, height: 900 });
  await users.evaluate((region) => region.scrollTo({ left: 2_000 }));
  await expect(trading).toBeInViewport({ ratio: 1 });
  await expect(row.getByText(username)).toBeInViewport({ ratio: 1 });

  // On a phone each user is a card without headers, so a list selects the order.
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(page.getByRole('columnheader')).toHaveCount(0);
  await expect(page.getByRole('combobox', { name: 'Order' })).toBeVisible();
  for (const text of [`${PHONE.countryCode} ${PHONE.mobileNumber}`, 'Technical Analysis · Bitget']) {
    await expect(row.getByText(text)).toBeInViewport();
  }
  for (const reached of [row.getByRole('switch').first(), row.getByRole('link')]) {
    await expect(reached).toBeInViewport({ ratio: 1 });
  }
  expect(await users.evaluate((region) => region.scrollWidth > region.clientWidth)).toBe(false);
  await row.getByRole('switch', { name: `Status of ${username}: Active` }).click();
  await dialog(page, 'Deactivate User').getByRole('button', { name: 'Cancel' }).click();
  await expect(trading).toBeVisible();
});
