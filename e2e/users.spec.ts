import { expect, test } from './fixtures.ts';
import { dialog, expectToast, tableRow, tableRows } from './screen.ts';
import { uniqueName } from './unique.ts';

const PHONE = { countryCode: '+47', mobileNumber: '987654321' };

test.beforeEach(async ({ page, signIn }) => {
  await signIn(page);
});

// Requirements: accounts-validation-4, accounts-validation-5, accounts-validation-6, accounts-validation-7
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
  await expect(username).toBeFocused();
});

// Requirements: screens-users-2, screens-users-3, accounts-messages-13
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
  for (const text of [
    'Carol Jones',
    '+49 170123',
    'Admin',
    'Test',
    'Technical Analysis · Bitget',
    'Active',
  ]) {
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
  await expect(form.getByText('A user with this username already exists')).toBeVisible();
  await expect(form.getByLabel('Username')).toHaveValue(name);
  await expect(form.getByLabel(/^Password/)).toHaveValue('carol, carol');
  await expect(form.getByLabel('First Name')).toHaveValue('Carol');

  const other = `${uniqueName('carol')}@example.com`;
  await form.getByLabel('Username').fill(other);
  await form.getByRole('button', { name: 'Create User' }).click();
  await expectToast(page, { title: 'User Created Successfully', text: other });
});

test('a new user is a test user while no real money is traded, unless the regular kind is chosen', async ({
  page,
}) => {
  const name = `${uniqueName('dave')}@example.com`;
  await page.goto('/create-client?dialog=create');
  const form = dialog(page, 'Create New User');
  const type = form.getByLabel('Account Type');
  await expect(type).toHaveValue('test');
  await type.selectOption('Regular user (live mode, real money)');
  await form.getByLabel('Username').fill(name);
  await form.getByLabel(/^Password/).fill('dave, dave');
  await form.getByLabel(/^Confirm Password/).fill('dave, dave');
  await page.keyboard.press('Enter');
  await expectToast(page, { title: 'User Created Successfully', text: name });
  const row = tableRow(page, 'Users', name);
  await expect(row).toBeVisible();
  await expect(row.getByText('Test', { exact: true })).toHaveCount(0);
});

// Requirements: accounts-messages-13
test('what the server refuses stands at its field, and what nobody answered is said', async ({
  page,
  expectFailure,
}) => {
  await page.goto('/create-client?dialog=create');
  const form = dialog(page, 'Create New User');
  await form.getByLabel('Username').fill(`${uniqueName('eve')}@example.com`);
  await form.getByLabel(/^Password/).fill('eve, eve');
  await form.getByLabel(/^Confirm Password/).fill('eve, eve');
  await form.getByLabel('Country Code').fill('+1234567');
  expectFailure({ path: '/api/admin/create-client', status: 400 });
  await form.getByRole('button', { name: 'Create User' }).click();
  await expectToast(page, {
    title: 'Failed to Create User',
    text: 'Country code must have at most 6 digits',
  });
  await expect(form.getByText('Country code must have at most 6 digits')).toBeVisible();

  await form.getByLabel('Country Code').fill('+1');
  expectFailure({ path: '/api/admin/create-client', status: 'network' });
  await page.route('**/api/admin/create-client', (route) => route.abort());
  await form.getByRole('button', { name: 'Create User' }).click();
  await expectToast(page, {
    title: 'Failed to Create User',
    text: 'An error occurred while creating the user account',
  });
  await expect(form.getByLabel('Username')).toHaveValue(/^eve-/);
});

test('a weak password is refused at its field, and an administrator needs a longer one', async ({
  page,
  expectFailure,
}) => {
  await page.goto('/create-client?dialog=create');
  const form = dialog(page, 'Create New User');
  const password = form.getByLabel(/^Password/);
  await expect(password).toHaveAccessibleDescription('At least 6 characters, 12 for an administrator');
  await form.getByLabel('Username').fill('weak@example.com');
  const submit = async (text: string) => {
    await password.fill(text);
    await form.getByLabel(/^Confirm Password/).fill(text);
    await form.getByRole('button', { name: 'Create User' }).click();
  };
  await form.getByLabel('Administrator').check();
  await submit('eleven char');
  await expect(
    form.getByText('The password of an administrator must be at least 12 characters'),
  ).toBeVisible();
  await form.getByLabel('Administrator').uncheck();
  expectFailure({ path: '/api/admin/create-client', status: 400 });
  await submit('qwerty');
  await expect(form.getByText('This is one of the most used passwords. Choose another one.')).toBeVisible();
});

// Requirements: screens-users-3
test('what was typed of a new user is lost by no key, click or step back without a question', async ({
  page,
}) => {
  await page.goto('/create-client');
  await page.getByRole('button', { name: 'Create New User' }).click();
  const form = dialog(page, 'Create New User');
  const question = dialog(page, 'You have unsaved changes');
  await expect(form.getByLabel('Username')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(form).toBeHidden();

  await page.getByRole('button', { name: 'Create New User' }).click();
  await form.getByLabel('First Name').fill('Grace');
  const ways: [string, () => Promise<unknown>][] = [
    ['Escape', () => page.keyboard.press('Escape')],
    ['a click outside', () => page.mouse.click(20, 400)],
    ['the close button', () => form.getByRole('button', { name: 'Close dialog' }).click()],
    ['the button Cancel', () => form.getByRole('button', { name: 'Cancel' }).click()],
    ['the back button', () => page.goBack()],
  ];
  for (const [way, leave] of ways) {
    await leave();
    await expect(question, way).toContainText('What you have entered here is lost when you leave.');
    await expect(question.getByRole('button', { name: 'Stay' }), way).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(question, way).toBeHidden();
    await expect(form.getByLabel('First Name'), way).toHaveValue('Grace');
  }
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Leave' }).click();
  await expect(form).toBeHidden();
  await expect(page).toHaveURL(/create-client$/);
  await page.getByRole('button', { name: 'Create New User' }).click();
  await expect(form.getByLabel('First Name')).toHaveValue('');
  await form.getByLabel('First Name').fill('Grace');
  await page.goBack();
  await question.getByRole('button', { name: 'Leave' }).click();
  await expect(form).toBeHidden();
});

test('while a user is created the buttons wait and the dialog stays', async ({ page }) => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/api/admin/create-client', async (route) => {
    await held;
    await route.continue();
  });
  const name = `${uniqueName('frank')}@example.com`;
  await page.goto('/create-client?dialog=create');
  const form = dialog(page, 'Create New User');
  await form.getByLabel('Username').fill(name);
  await form.getByLabel(/^Password/).fill('frank, frank');
  await form.getByLabel(/^Confirm Password/).fill('frank, frank');
  await form.getByRole('button', { name: 'Create User' }).click();
  await expect(form.getByRole('button', { name: 'Creating...' })).toBeDisabled();
  await expect(form.getByRole('button', { name: 'Cancel' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(form).toBeVisible();
  release();
  await expectToast(page, { title: 'User Created Successfully', text: name });
  await expect(form).toBeHidden();
});

// Requirements: screens-users-4, accounts-states-7, accounts-messages-14
test('active trading is switched after a warning that live trading is affected', async ({
  page,
  operator,
}) => {
  const { username } = await operator.createUser();
  await page.goto('/create-client');
  const trading = page.getByRole('switch', { name: `Active trading of ${username}` });
  await expect(trading).not.toBeChecked();

  await trading.click();
  const enabling = dialog(page, 'Enable Active Trading');
  await expect(enabling).toContainText(`Enable active trading for ${username}?`);
  await expect(enabling).toContainText(
    'This affects live trading: the system will execute positions automatically for this user when signals arrive.',
  );
  await enabling.getByRole('button', { name: 'Cancel' }).click();
  await expect(enabling).toBeHidden();
  await expect(trading).not.toBeChecked();

  await trading.click();
  await enabling.getByRole('button', { name: 'Enable Trading' }).click();
  await expectToast(page, { title: 'Active Trading Updated', text: `${username}: Active trading is on` });
  await expect(trading).toBeChecked();

  await trading.click();
  const disabling = dialog(page, 'Disable Active Trading');
  await expect(disabling).toContainText('all automated execution for this user stops');
  await disabling.getByRole('button', { name: 'Disable Trading' }).click();
  await expect(trading).not.toBeChecked();
  await page.reload();
  await expect(trading).not.toBeChecked();
});

// Requirements: screens-users-4, screens-users-5, accounts-calls-14, accounts-messages-14
test('a user is deactivated and activated after a confirmation, and stays in the list of all users', async ({
  page,
  operator,
}) => {
  const { username } = await operator.createUser();
  await page.goto('/create-client');
  await page.getByRole('switch', { name: `Status of ${username}: Active` }).click();
  const deactivating = dialog(page, 'Deactivate User');
  await expect(deactivating).toContainText(`Deactivate ${username}?`);
  await expect(deactivating).toContainText('Inactive users cannot log in');
  await expect(deactivating).toContainText('Their data is kept');
  await deactivating.getByRole('button', { name: 'Deactivate User' }).click();
  await expectToast(page, { title: 'User Status Updated', text: `${username}: User is inactive` });
  await expect(tableRow(page, 'Users', username)).toContainText('Inactive');

  await page.getByRole('switch', { name: `Status of ${username}: Inactive` }).click();
  const activating = dialog(page, 'Activate User');
  await expect(activating).toContainText('The user will be able to log in again.');
  await activating.getByRole('button', { name: 'Activate User' }).click();
  await expectToast(page, { title: 'User Status Updated', text: `${username}: User is active` });
  await expect(page.getByRole('switch', { name: `Status of ${username}: Active` })).toBeChecked();
});

// Requirements: screens-users-5
test('all users are asked for first; a switch hides inactive ones, and the browser remembers it', async ({
  page,
  operator,
  server,
  openBrowser,
  signIn,
}) => {
  while ((await operator.countUsers()) < 12) await operator.createUser();
  const { id, username } = await operator.createUser();
  await operator.setActive(id, false);
  const asked: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname === '/api/admin/users') asked.push(searchParams.get('includeInactive'));
  });
  await page.goto('/create-client');
  const inactiveToo = page.getByRole('switch', { name: 'Include inactive' });
  const row = tableRow(page, 'Users', username);
  await expect(inactiveToo).toBeChecked();
  await expect(row).toContainText('Inactive');
  expect(new Set(asked)).toEqual(new Set(['true']));

  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page).toHaveURL(`${server.url}/create-client?page=2`);
  await inactiveToo.press('Space');
  await expect(inactiveToo).not.toBeChecked();
  await expect(page).toHaveURL(`${server.url}/create-client`);
  await expect(tableRows(page, 'Users').first()).toContainText('@');
  await expect(row).toHaveCount(0);
  expect(asked.at(-1)).toBe('false');

  asked.length = 0;
  await page.reload();
  await expect(inactiveToo).not.toBeChecked();
  await expect(tableRows(page, 'Users').first()).toContainText('@');
  await expect(row).toHaveCount(0);
  expect(new Set(asked)).toEqual(new Set(['false']));
  const other = await operator.createUser();
  await page.goto(`/create-client?search=${other.username}`);
  await page.getByRole('switch', { name: `Status of ${other.username}: Active` }).click();
  await dialog(page, 'Deactivate User').getByRole('button', { name: 'Deactivate User' }).click();
  await expectToast(page, {
    title: 'User Status Updated',
    text: `${other.username}: User is inactive. 'Include inactive' shows the user again.`,
  });
  await expect(tableRow(page, 'Users', other.username)).toHaveCount(0);
  await inactiveToo.click();
  await expect(tableRow(page, 'Users', other.username)).toContainText('Inactive');

  await inactiveToo.click();
  const elsewhere = await openBrowser();
  await signIn(elsewhere);
  await elsewhere.goto('/create-client');
  await expect(elsewhere.getByRole('switch', { name: 'Include inactive' })).toBeChecked();
});

test('a browser that forbids its storage still hides inactive users, for as long as the screen is open', async ({
  page,
}) => {
  await page.addInitScript(() =>
    Object.defineProperty(window, 'localStorage', {
      get() {
        throw new DOMException('forbidden', 'SecurityError');
      },
    }),
  );
  await page.goto('/create-client');
  const inactiveToo = page.getByRole('switch', { name: 'Include inactive' });
  await inactiveToo.click();
  await expect(inactiveToo).not.toBeChecked();
});

// Requirements: accounts-messages-14
test('a change that the server refuses, or does not answer, is said and can be tried again', async ({
  page,
  operator,
  expectFailure,
}) => {
  const { id, username } = await operator.createUser();
  await page.goto('/create-client');
  const status = page.getByRole('switch', { name: `Status of ${username}: Active` });
  const trading = page.getByRole('switch', { name: `Active trading of ${username}` });

  expectFailure({ path: `/api/admin/user/${id}`, status: 404 });
  await page.route(`**/api/admin/user/${id}/*`, (route) =>
    route.fulfill({ status: 404, json: { message: 'User not found' } }),
  );
  await status.click();
  const deactivating = dialog(page, 'Deactivate User');
  await deactivating.getByRole('button', { name: 'Deactivate User' }).click();
  await expectToast(page, { title: 'Failed to Update User Status', text: 'User not found' });
  await expect(deactivating).toBeVisible();
  await deactivating.getByRole('button', { name: 'Cancel' }).click();
  await expect(status).toBeChecked();

  await trading.click();
  const enabling = dialog(page, 'Enable Active Trading');
  await enabling.getByRole('button', { name: 'Enable Trading' }).click();
  await expectToast(page, { title: 'Failed to Update Active Trading', text: 'User not found' });
  await page.unroute(`**/api/admin/user/${id}/*`);

  expectFailure({ path: `/api/admin/user/${id}`, status: 'network' });
  await page.route(`**/api/admin/user/${id}/*`, (route) => route.abort());
  await enabling.getByRole('button', { name: 'Enable Trading' }).click();
  await expectToast(page, { title: 'Failed to Update Active Trading', text: 'The change was not saved' });
  await page.unroute(`**/api/admin/user/${id}/*`);

  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(`**/api/admin/user/${id}/*`, async (route) => {
    await held;
    await route.continue();
  });
  await enabling.getByRole('button', { name: 'Enable Trading' }).click();
  await expect(enabling.getByRole('button', { name: 'Updating...' })).toBeDisabled();
  await page.keyboard.press('Escape');
  await expect(enabling).toBeVisible();
  release();
  await expectToast(page, { title: 'Active Trading Updated' });
  await expect(enabling).toBeHidden();
  await expect(trading).toBeChecked();
});

// Requirements: screens-users-6
test('a search finds users by what the row shows, is kept in the address, and is cleared', async ({
  page,
  operator,
  server,
}) => {
  const firstName = uniqueName('Zoe');
  for (let at = 0; at < 11; at++) {
    await operator.createUser({ firstName, lastName: `Number ${at}`, ...(at === 3 ? PHONE : {}) });
  }
  const heading = page.getByText(/^\d+ users?$/);
  await page.goto('/create-client?page=2');
  await expect(heading).toBeVisible();
  const field = page.getByRole('textbox', { name: 'Search users' });
  await field.pressSequentially(firstName.toUpperCase());
  await expect(page).toHaveURL(`${server.url}/create-client?search=${firstName.toUpperCase()}`);
  await expect(heading).toHaveText('11 users');
  await expect(tableRows(page, 'Users')).toHaveCount(10);
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(tableRows(page, 'Users')).toHaveCount(1);

  await field.fill(`${firstName} number 10`);
  await expect(heading).toHaveText('1 user');
  await expect(tableRows(page, 'Users')).toContainText([`${firstName} Number 10`]);
  await page.reload();
  await expect(field).toHaveValue(`${firstName} number 10`);
  await expect(heading).toHaveText('1 user');
  await page.getByRole('button', { name: 'Clear search' }).click();
  await expect(field).toHaveValue('');
  await expect(field).toBeFocused();
  await expect(page).toHaveURL(`${server.url}/create-client`);

  await field.fill(`${PHONE.countryCode} ${PHONE.mobileNumber}`);
  await expect(heading).toHaveText('1 user');
  await expect(tableRows(page, 'Users')).toContainText([`${firstName} Number 3`]);
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(`${server.url}/create-client`);

  await field.fill('100% nobody_');
  await expect(page.getByText('No users match "100% nobody_"')).toBeVisible();
  await expect(heading).toHaveText('0 users');
  await page.getByRole('button', { name: 'Show All Users' }).click();
  await expect(field).toHaveValue('');
  await expect(tableRows(page, 'Users')).toHaveCount(10);
});

test('the browser goes back from a search to the list before it', async ({ page, operator, server }) => {
  const { username } = await operator.createUser();
  await page.goto('/admin');
  await page.getByRole('link', { name: 'Users' }).last().click();
  const field = page.getByRole('textbox', { name: 'Search users' });
  await field.pressSequentially(username, { delay: 30 });
  await expect(tableRows(page, 'Users')).toHaveCount(1);
  await page.goBack();
  await expect(page).toHaveURL(`${server.url}/create-client`);
  await expect(field).toHaveValue('');
  await expect(tableRows(page, 'Users').nth(1)).toBeVisible();
});

// Requirements: screens-users-6
test('a column is sorted by its header, with the keyboard too, and the order is kept in the address', async ({
  page,
  operator,
  server,
}) => {
  const lastName = uniqueName('Sorted');
  const named = async (firstName: string, activeTrading: boolean) =>
    await operator.createUser({
      username: `${firstName}-${lastName}@example.com`,
      firstName,
      lastName,
      activeTrading,
    });
  for (const [name, trades] of [
    ['Berta', true],
    ['anton', false],
    ['Cesar', false],
  ] as const)
    await named(name, trades);
  await page.goto(`/create-client?search=${lastName}`);
  const table = page.getByRole('table', { name: 'Users' });
  const header = (name: string) => table.getByRole('columnheader', { name });
  const expectOrder = (...names: string[]) =>
    expect(tableRows(page, 'Users').locator('strong')).toHaveText(
      names.map((name) => `${name}-${lastName}@example.com`),
    );
  await expect(header('Created')).toHaveAttribute('aria-sort', 'descending');
  await expect(header('Username')).toHaveAttribute('aria-sort', 'none');
  await expectOrder('Cesar', 'anton', 'Berta');

  await header('Name').last().getByRole('button').click();
  await expect(page).toHaveURL(`${server.url}/create-client?search=${lastName}&sort=name&direction=asc`);
  await expect(header('Name').last()).toHaveAttribute('aria-sort', 'ascending');
  await expectOrder('anton', 'Berta', 'Cesar');

  await page.keyboard.press('Enter');
  await expect(header('Name').last()).toHaveAttribute('aria-sort', 'descending');
  await expectOrder('Cesar', 'Berta', 'anton');
  await page.reload();
  await expectOrder('Cesar', 'Berta', 'anton');

  await header('Active Trading').getByRole('button').focus();
  await page.keyboard.press('Space');
  await expect(header('Active Trading')).toHaveAttribute('aria-sort', 'descending');
  await expectOrder('Berta', 'Cesar', 'anton');

  await header('Created').getByRole('button').click();
  await expect(page).toHaveURL(`${server.url}/create-client?search=${lastName}`);
});

test('the former rows stay, faded, while the next page is fetched', async ({ page, operator }) => {
  while ((await operator.countUsers()) < 12) await operator.createUser();
  await page.goto('/create-client');
  const rows = tableRows(page, 'Users');
  await expect(rows).toHaveCount(10);
  const shown = await rows.first().textContent();
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/api/admin/users?*', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('table', { name: 'Users' })).toHaveAttribute('aria-busy', 'true');
  await expect(rows.first()).toHaveText(shown ?? '');
  release();
  await expect(page.getByRole('table', { name: 'Users' })).not.toHaveAttribute('aria-busy');
  await expect(rows.first()).not.toHaveText(shown ?? '');
});

// Requirements: price-logs-10
test('a page that is no more leads to the last one', async ({ page, server }) => {
  await page.goto('/create-client?page=999&search=admin%40example');
  await expect(page).toHaveURL(`${server.url}/create-client?search=admin%40example`);
  await expect(tableRow(page, 'Users', server.adminUsername)).toBeVisible();
});

// Requirements: accounts-limits-4
test('an id is shortened and copied whole by a click', async ({ page, operator, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const { id } = await operator.createUser();
  await page.goto('/create-client');
  const short = `${id.slice(0, 4)}...${id.slice(-4)}`;
  await page.getByRole('button', { name: `${short}, copy user ID` }).click();
  await expectToast(page, { title: 'Copied!', text: 'User ID copied to clipboard.' });
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(id);
});

test('a row says for how long trading pauses', async ({ page, operator, server }) => {
  const { id, username } = await operator.createUser({ activeTrading: true });
  const answer = await page.request.put(`/api/admin/user-settings/${id}`, {
    headers: { origin: server.url },
    data: { tradingPausedUntil: '2999-01-02T12:00:00Z' },
  });
  expect(answer.ok()).toBe(true);
  await page.goto(`/create-client?search=${username}`);
  await tableRow(page, 'Users', username).getByText('Paused').hover();
  await expect(page.getByRole('tooltip')).toHaveText('Paused until 2999/01/02 04:00:00');
});

// Requirements: screens-users-2, accounts-states-6, accounts-limits-1
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
  await expect(own).toHaveAccessibleName(/You cannot deactivate your own account$/);
  await own.locator('xpath=ancestor::*[@data-tip]').hover();
  await expect(page.getByRole('tooltip')).toHaveText('You cannot deactivate your own account');
});

// Requirements: screens-users-1
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

const LONG_NAME = 'Wolfeschlegelsteinhausenbergerdorff Montgomery-Featherstonehaugh';

// Requirements: screens-users-2
test('a long name is cut with all of it in its tooltip, and the username stays beside the switches', async ({
  page,
  operator,
}) => {
  const username = `${uniqueName('featherstonehaugh.desk.london')}@example.com`;
  await operator.createUser({ username, firstName: LONG_NAME, lastName: LONG_NAME });
  await page.goto(`/create-client?search=${encodeURIComponent(username)}`);
  const row = tableRow(page, 'Users', username);
  const trading = row.getByRole('switch', { name: `Active trading of ${username}` });
  await expect(row.getByRole('link')).toBeInViewport({ ratio: 1 });
  await expect(trading).toBeInViewport({ ratio: 1 });
  for (const text of [username, `${LONG_NAME} ${LONG_NAME}`]) {
    await row.getByText(text, { exact: true }).hover();
    await expect(page.getByRole('tooltip')).toHaveText(text);
  }
  await page.setViewportSize({ width: 900, height: 900 });
  await page.getByRole('region', { name: 'Users' }).evaluate((region) => region.scrollTo({ left: 2_000 }));
  await expect(trading).toBeInViewport({ ratio: 1 });
  await expect(row.getByText(username)).toBeInViewport({ ratio: 1 });
});

test.describe('on a telephone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  // Requirements: additions-everywhere-3
  test('a long name takes nothing of any user off the screen', async ({ page, operator }) => {
    const user = await operator.createUser({ firstName: LONG_NAME, lastName: LONG_NAME });
    await page.goto(`/create-client?search=${encodeURIComponent(user.username)}`);
    const row = tableRow(page, 'Users', user.username);
    for (const reached of [row.getByRole('switch').first(), row.getByRole('link')]) {
      await expect(reached).toBeInViewport({ ratio: 1 });
    }
    const isWider = await page
      .getByRole('region', { name: 'Users' })
      .evaluate((region) => region.scrollWidth > region.clientWidth);
    expect(isWider).toBe(false);
  });

  test('each user is a card with all that the table shows and every action', async ({
    page,
    operator,
    server,
  }) => {
    const user = await operator.createUser({ firstName: 'Ann', lastName: 'Small', ...PHONE });
    await page.goto('/create-client');
    const row = tableRow(page, 'Users', user.username);
    for (const text of [
      'Ann Small',
      `${PHONE.countryCode} ${PHONE.mobileNumber}`,
      'Technical Analysis · Bitget',
    ]) {
      await expect(row.getByText(text)).toBeInViewport();
    }
    await row.getByRole('switch', { name: `Active trading of ${user.username}` }).click();
    await dialog(page, 'Enable Active Trading').getByRole('button', { name: 'Enable Trading' }).click();
    await expectToast(page, { title: 'Active Trading Updated' });
    await row.getByRole('switch', { name: `Status of ${user.username}: Active` }).click();
    await dialog(page, 'Deactivate User').getByRole('button', { name: 'Cancel' }).click();
    await row.getByRole('link', { name: `Settings of ${user.username}` }).click();
    await expect(page).toHaveURL(`${server.url}/settings?userId=${user.id}`);
  });

  test('the order is chosen from a list, since there are no headers', async ({ page, operator, server }) => {
    const lastName = uniqueName('Small');
    for (const firstName of ['Bert', 'Anna']) await operator.createUser({ firstName, lastName });
    await page.goto(`/create-client?search=${lastName}`);
    const order = page.getByRole('combobox', { name: 'Order' });
    await expect(order.locator('option:checked')).toHaveText('Newest first');
    await order.selectOption('Name Z to A');
    await expect(page).toHaveURL(`${server.url}/create-client?search=${lastName}&sort=name&direction=desc`);
    await expect(tableRows(page, 'Users')).toContainText(['Bert', 'Anna']);
    await expect(page.getByRole('columnheader')).toHaveCount(0);
  });
});
