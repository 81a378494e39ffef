import type { Page } from '@playwright/test';
import { runStatements } from './database.ts';
import { expect, test } from './fixtures.ts';
import { dialog, expectToast, fillLogin, pageTitle, signOut } from './screen.ts';
import { connectionCard } from './settings-screen.ts';
import { holdBack } from './webhook-screen.ts';

const method = (page: Page) => page.getByLabel('Position sizing method');
const portion = (page: Page) => page.getByLabel('Investment portion');
const risk = (page: Page) => page.getByLabel('Maximum risk per trade');
const selected = (page: Page, label: string) => page.getByLabel(label).locator('option:checked');

// Requirements: screens-user-settings-5, screens-user-settings-7, accounts-states-9, accounts-states-10
// Requirements: accounts-states-11, accounts-validation-10, accounts-limits-9
test('the sizing method decides which fields are Auto and which are chosen', async ({
  page,
  operator,
  signIn,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');

  await expect(method(page)).toHaveValue('Technical Analysis');
  await expect(portion(page)).toBeEnabled();
  await expect(selected(page, 'Investment portion')).toHaveText('5.0%');
  await expect(risk(page)).toBeDisabled();
  await expect(risk(page).locator('option')).toHaveText(['Auto']);

  await method(page).selectOption('Risk Management');
  await expect(portion(page)).toBeDisabled();
  await expect(portion(page).locator('option')).toHaveText(['Auto']);
  await expect(risk(page)).toBeEnabled();
  await expect(selected(page, 'Maximum risk per trade')).toHaveText('5.0%');

  await method(page).selectOption('Portfolio Allocation');
  await expect(portion(page)).toBeEnabled();
  await expect(risk(page)).toBeEnabled();
  await expect(portion(page).locator('option')).toHaveText(['2.0%', '5.0%', '10.0%', '15.0%', '20.0%']);
  await expect(risk(page).locator('option')).toHaveText(['2.0%', '5.0%', '10.0%', '15.0%']);

  for (const name of ['Scalping', 'Smart Position']) {
    const option = method(page).locator('option', { hasText: name });
    await expect(option).toHaveText(`${name} (Coming Soon)`);
    await expect(option).toBeDisabled();
  }
  await expect(page.getByLabel('Market type').locator('option', { hasText: 'Spot' })).toBeDisabled();
});

// Requirements: screens-user-settings-5, accounts-fields-5, accounts-validation-8, accounts-messages-10
test('settings are saved with a toast, kept, and Auto is stored as none', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await method(page).selectOption('Portfolio Allocation');
  await portion(page).selectOption('15.0%');
  await risk(page).selectOption('10.0%');
  await page.getByLabel('Exchange platform').selectOption('Bybit');
  await page.getByLabel('Signal processor').selectOption('UD Bot');
  await page.getByLabel('Signal timeframe').selectOption('1h');
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, {
    title: 'Settings Updated',
    text: 'Your settings have been saved successfully.',
  });

  await page.reload();
  await expect(method(page)).toHaveValue('Portfolio Allocation');
  await expect(selected(page, 'Investment portion')).toHaveText('15.0%');
  await expect(selected(page, 'Maximum risk per trade')).toHaveText('10.0%');
  await expect(page.getByLabel('Exchange platform')).toHaveValue('Bybit');
  await expect(page.getByLabel('Signal processor')).toHaveValue('UD Bot');
  await expect(page.getByLabel('Signal timeframe')).toHaveValue('1h');

  await method(page).selectOption('Risk Management');
  await page.getByRole('button', { name: 'Discard' }).click();
  await expect(method(page)).toHaveValue('Portfolio Allocation');
  await method(page).selectOption('Risk Management');
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Settings Updated' });
  const answer = await page.request.get('/api/user-settings');
  expect(await answer.json()).toMatchObject({
    data: {
      positionSizingMethod: 'Risk Management',
      investmentPortion: null,
      maximumRiskPerTrade: expect.stringMatching(/^0\.10?$/),
    },
  });
});

for (const missing of ['absent', 'null'] as const) {
  // Requirements: accounts-limits-7
  test(`a timeframe, processor and exchange that are ${missing} in the answer show their defaults, and are saved so`, async ({
    page,
    operator,
    signIn,
  }) => {
    const user = await operator.createUser({
      settings: { signalTimeframe: '1h', signalProcessor: 'UD Bot', exchangePlatform: 'Bybit' },
    });
    await page.route('**/api/user-settings', async (route) => {
      const answer = await route.fetch();
      const { data, ...rest } = (await answer.json()) as { data: Record<string, unknown> };
      for (const name of ['signalTimeframe', 'signalProcessor', 'exchangePlatform']) {
        data[name] = missing === 'null' ? null : undefined;
      }
      await route.fulfill({ response: answer, json: { ...rest, data } });
    });
    await signIn(page, user);
    await page.goto('/settings');
    await expect(page.getByLabel('Signal timeframe')).toHaveValue('Any');
    await expect(page.getByLabel('Signal processor')).toHaveValue('Tesla');
    await expect(page.getByLabel('Exchange platform')).toHaveValue('Bitget');
    await expect(page.getByLabel('Signal timeframe').locator('option', { hasText: 'Any' })).toHaveCount(1);
    await expect(connectionCard(page)).toContainText('Bitget');
    await expect(page.getByRole('button', { name: 'Discard' }).first()).toBeDisabled();

    await page.getByLabel('Signal processor').selectOption('Any');
    await page.getByRole('button', { name: 'Save Settings' }).click();
    await expectToast(page, { title: 'Settings Updated' });
    await expect(page.getByLabel('Signal timeframe')).toHaveValue('Any');
    expect(await operator.settingsOf(user.id)).toMatchObject({
      signalTimeframe: 'Any',
      signalProcessor: 'Any',
      exchangePlatform: 'Bitget',
    });
  });
}

// Requirements: screens-user-settings-3, screens-user-settings-5, screens-user-settings-6
// Requirements: accounts-messages-12, trading-validation-7
test('the locked field says why, and the account card shows what is known', async ({
  page,
  operator,
  signIn,
  context,
  server,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
  const user = await operator.createUser({ firstName: 'Dana', countryCode: '+1', mobileNumber: '5550100' });
  await signIn(page, user);
  await page.goto('/settings');
  await expect(page.getByLabel('Stop loss / take profit calculation')).toBeDisabled();
  await expect(page.getByLabel('Stop loss / take profit calculation').locator('option')).toHaveText([
    'Futures_Limit_Classic',
    'Futures_Limit_Smart (Coming Soon)',
  ]);
  await expect(
    page.getByText('This parameter is reserved for future development and cannot be modified'),
  ).toBeVisible();

  const fact = (name: string) =>
    page.getByText(name, { exact: true }).locator('xpath=following-sibling::dd').first();
  await expect(fact('User ID')).toContainText(user.id);
  await expect(fact('Username')).toHaveText(user.username);
  await expect(fact('Administrator')).toHaveText('No');
  await expect(fact('First name')).toHaveText('Dana');
  await expect(fact('Last name')).toHaveText('Not provided');
  await expect(fact('Mobile')).toHaveText('+1 5550100');

  await page.getByRole('button', { name: 'Copy user ID' }).click();
  await expectToast(page, { title: 'Copied!', text: 'User ID copied to clipboard.' });
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(user.id);

  await page.getByRole('link', { name: 'Webhook', exact: true }).last().click();
  await expect(pageTitle(page, 'Webhook Configuration')).toBeVisible();
});

// Requirements: accounts-messages-18
test('the newest toast takes the place of the one before it', async ({ page, operator, signIn }) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  await expect(method(page)).toBeVisible();
  // What can be seen in each frame.
  const seen = await page.evaluateHandle(() => {
    const frames: string[] = [];
    const look = () => {
      const toasts = [...document.querySelectorAll('.mantine-Notification-root')];
      const visible = toasts.filter((toast) => getComputedStyle(toast).display !== 'none');
      const titles = visible.map((toast) => toast.querySelector('.mantine-Notification-title')?.textContent);
      if (frames.at(-1) !== titles.join(' and ')) frames.push(titles.join(' and '));
      requestAnimationFrame(look);
    };
    look();
    return frames;
  });
  await page.getByRole('button', { name: 'Copy user ID' }).click();
  await expectToast(page, { title: 'Copied!' });
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Settings Updated' });
  await expect(page.locator('.mantine-Notification-root')).toHaveCount(1);
  expect(await seen.jsonValue()).toEqual(['', 'Copied!', 'Settings Updated']);
});

// Requirements: screens-user-settings-1, screens-user-settings-4, screens-user-settings-5
// Requirements: accounts-messages-10
test("an administrator edits another user's settings under a warning", async ({ page, operator, signIn }) => {
  const user = await operator.createUser();
  await signIn(page);
  await page.goto(`/settings?userId=${user.id}`);
  await expect(pageTitle(page, `User Settings - ${user.username}`)).toBeVisible();
  await expect(page.getByText("Admin Mode: You are editing another user's settings")).toBeVisible();
  await expect(page.getByRole('button', { name: 'Change Password' })).toHaveCount(0);
  await expect(page.getByText('Active trading', { exact: true })).toHaveCount(0);

  await method(page).selectOption('Risk Management');
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, {
    title: 'Settings Updated',
    text: `${user.username}'s settings have been updated successfully.`,
  });
  await page.reload();
  await expect(method(page)).toHaveValue('Risk Management');
});

test('an unknown user is an error that says so', async ({ page, signIn, expectFailure }) => {
  const nobody = '00000000-0000-4000-8000-000000000000';
  expectFailure({ path: `/api/admin/user/${nobody}`, status: 404 });
  expectFailure({ path: `/api/admin/user-settings/${nobody}`, status: 404 });
  await signIn(page);
  await page.goto(`/settings?userId=${nobody}`);
  await expect(page.getByRole('alert').filter({ hasText: 'Failed to fetch user' })).toContainText('404: ');
});

// Requirements: screens-user-settings-4, accounts-validation-3, accounts-roles-2, accounts-messages-11
test('the password is changed, other sessions end, and only the new one signs in', async ({
  page,
  operator,
  signIn,
  openBrowser,
  expectFailure,
}) => {
  const user = await operator.createUser();
  const elsewhere = await openBrowser();
  await signIn(elsewhere, user);
  await elsewhere.goto('/');
  await expect(pageTitle(elsewhere, /^Welcome, /)).toBeVisible();
  await signIn(page, user);
  await page.goto('/settings');
  await page.getByRole('button', { name: 'Change Password' }).click();
  const form = dialog(page, 'Change Password');
  const change = form.getByRole('button', { name: 'Change Password' });

  await form.getByLabel('New password', { exact: true }).fill('short');
  await form.getByLabel('Confirm new password', { exact: true }).fill('other');
  await change.click();
  await expect(form.getByText('Current password is required')).toBeVisible();
  await expect(form.getByText('Password must be at least 6 characters')).toBeVisible();
  await expect(form.getByText('Passwords do not match')).toBeVisible();

  expectFailure({ path: '/api/user-settings/change-password', status: 403 });
  await form.getByLabel('Current password', { exact: true }).fill('not the password');
  await form.getByLabel('New password', { exact: true }).fill('second password');
  await form.getByLabel('Confirm new password', { exact: true }).fill('second password');
  await change.click();
  await expectToast(page, { title: 'Error', text: 'Invalid password' });

  await form.getByLabel('Current password', { exact: true }).fill(user.password);
  await change.click();
  await expectToast(page, {
    title: 'Password Changed',
    text: 'Your password has been updated successfully.',
  });
  await expect(form).toBeHidden();

  expectFailure({ path: '/api/', status: 401 });
  await elsewhere.getByRole('link', { name: 'User Settings' }).click();
  await expect(pageTitle(elsewhere, 'Welcome Back')).toBeVisible();

  await signOut(page, user.username);
  await fillLogin(page, user);
  await expect(page.getByRole('alert')).toHaveText('Invalid username or password');
  await fillLogin(page, { username: user.username, password: 'second password' });
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});

test('a new password that is refused says why at its field', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings?dialog=password');
  const form = dialog(page, 'Change Password');
  await form.getByLabel('Current password', { exact: true }).fill(user.password);
  const newPassword = form.getByLabel('New password', { exact: true });
  await expect(newPassword).toHaveAccessibleDescription('At least 6 characters, 12 in live mode');
  await newPassword.fill('123456');
  await form.getByLabel('Confirm new password', { exact: true }).fill('123456');
  expectFailure({ path: '/api/user-settings/change-password', status: 400 });
  await form.getByRole('button', { name: 'Change Password' }).click();
  const message = 'This is one of the most used passwords. Choose another one.';
  await expect(form.getByText(message)).toBeVisible();
  await expect(newPassword).toHaveAccessibleDescription(new RegExp(message));
});

// Requirements: accounts-messages-11
test('a password that is being changed keeps its dialog, and the outcome is told wherever one is by then', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  const form = dialog(page, 'Change Password');
  const question = dialog(page, 'You have unsaved changes');
  const change = async (currentPassword: string) => {
    await page.getByRole('button', { name: 'Change Password' }).click();
    await form.getByLabel('Current password', { exact: true }).fill(currentPassword);
    await form.getByLabel('New password', { exact: true }).fill('second password');
    await form.getByLabel('Confirm new password', { exact: true }).fill('second password');
    const release = await holdBack(page, '**/api/user-settings/change-password');
    await form.getByRole('button', { name: 'Change Password' }).click();
    await expect(form.getByRole('button', { name: 'Changing...' })).toBeDisabled();
    return release;
  };
  expectFailure({ path: '/api/user-settings/change-password', status: 403 });
  let release = await change('not the password');
  await page.keyboard.press('Escape');
  await page.mouse.click(20, 400);
  await form.getByRole('button', { name: 'Close dialog' }).click();
  await expect(form).toBeVisible();
  await expect(question).toBeHidden();
  release();
  await expectToast(page, { title: 'Error', text: 'Invalid password' });
  await page.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Leave' }).click();
  await expect(form).toBeHidden();

  await page.unroute('**/api/user-settings/change-password');
  release = await change(user.password);
  await page.goBack();
  await question.getByRole('button', { name: 'Leave' }).click();
  await expect(form).toBeHidden();
  release();
  await expectToast(page, { title: 'Password Changed' });
  await expect(page).toHaveURL('/settings');
});

// Requirements: accounts-messages-12
test('a browser that does not let copy says so', async ({ page, operator, signIn }) => {
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.execCommand = () => false;
  });
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  await page.getByRole('button', { name: 'Copy user ID' }).click();
  await expectToast(page, { title: 'Error', text: 'Failed to copy to clipboard' });
});

test('the processors are the usual ones and those that administrators sent, and one of them is saved', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  const processors = page.getByLabel('Signal processor');
  await expect(processors.locator('option')).toHaveText(['Tesla', 'UD Bot', 'Any']);
  await (await operator.platform()).signal({ symbol: 'BTCUSDT', processor: 'Orion v2.1' });
  await page.reload();
  await processors.selectOption('Orion v2.1');
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Settings Updated' });
  expect((await operator.settingsOf(user.id)).signalProcessor).toBe('Orion v2.1');
});

// Requirements: screens-user-settings-8
test('each part of the screen that cannot be fetched says so, and is fetched on the next try', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 'network' });
  const user = await operator.createUser();
  await signIn(page);
  for (const [call, title, path] of [
    ['/api/user-settings', 'Failed to fetch settings', '/settings'],
    ['/api/user-settings/signal-processors', 'Failed to fetch processors', '/settings'],
    ['/api/user-settings/signal-timeframes', 'Failed to fetch timeframes', '/settings'],
    [`/api/admin/user/${user.id}`, 'Failed to fetch user', `/settings?userId=${user.id}`],
    [`/api/admin/user-settings/${user.id}`, 'Failed to fetch settings', `/settings?userId=${user.id}`],
  ] as const) {
    await page.route(`**${call}`, (route) => route.abort());
    await page.goto(path);
    const alert = page.getByRole('main').getByRole('alert').filter({ hasText: title });
    await expect(alert).toBeVisible();
    await page.unroute(`**${call}`);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await expect(alert).toBeHidden();
    await expect(page.getByLabel('Signal timeframe').locator('option', { hasText: '15m' })).toBeAttached();
  }
});

// Requirements: accounts-messages-3, accounts-messages-10
test('a save that is refused or gets no answer says so, and what was chosen stays', async ({
  page,
  operator,
  signIn,
  server,
  expectFailure,
}) => {
  expectFailure({ path: '/', status: 'network' });
  expectFailure({ path: '/api/user-settings', status: 404 });
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await method(page).selectOption('Portfolio Allocation');
  await portion(page).selectOption('20.0%');
  await server.stop();
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Error', text: 'Failed to update settings' });
  await server.start();
  await runStatements(server, [{ text: 'delete from user_settings where user_id = $1', values: [user.id] }]);
  await page.getByRole('button', { name: 'Save Settings' }).click();
  await expectToast(page, { title: 'Error', text: 'User settings not found' });
  await expect(method(page)).toHaveValue('Portfolio Allocation');
  await expect(selected(page, 'Investment portion')).toHaveText('20.0%');

  await page.getByRole('button', { name: 'Discard' }).click();
  await page.goto('/settings');
  const alert = page.getByRole('alert').filter({ hasText: 'Failed to fetch settings' });
  await expect(alert).toContainText('404: {"message":"User settings not found"}');
  await expect(page.getByText(user.id)).toBeVisible();
});

// Requirements: accounts-messages-11
test('a password that could not be changed for want of a server', async ({
  page,
  operator,
  signIn,
  server,
  expectFailure,
}) => {
  expectFailure({ path: '/', status: 'network' });
  await signIn(page, await operator.createUser());
  await page.goto('/settings?dialog=password');
  const form = dialog(page, 'Change Password');
  await form.getByLabel('Current password', { exact: true }).fill('first password');
  await form.getByLabel('New password', { exact: true }).fill('second password');
  await form.getByLabel('Confirm new password', { exact: true }).fill('second password');
  await server.stop();
  await form.getByRole('button', { name: 'Change Password' }).click();
  await expectToast(page, { title: 'Error', text: 'Failed to change password' });
  await expect(form.getByLabel('Current password', { exact: true })).toHaveValue('first password');
  await server.start();
});

test('the form starts from what is stored when it is opened, not from what was stored before', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page, user);
  await page.goto('/settings');
  await expect(method(page)).toHaveValue('Technical Analysis');
  await page.getByRole('link', { name: 'Signal Board' }).click();
  const settings = { positionSizingMethod: 'Risk Management' };
  const answer = await page.request.put('/api/user-settings', {
    data: settings,
    headers: { origin: new URL(page.url()).origin },
  });
  expect(answer.status()).toBe(200);
  await page.getByRole('link', { name: 'User Settings' }).click();
  await expect(method(page)).toHaveValue('Risk Management');
});
