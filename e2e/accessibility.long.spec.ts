import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog, fillLogin, loadBelow, pageTitle } from './screen.ts';
import { fillCredentials } from './settings-screen.ts';

interface Screen {
  path: string;
  /** Waits until the screen shows its data. */
  shows: (page: Page) => Promise<void>;
}

const title = (text: string | RegExp) => (page: Page) => expect(pageTitle(page, text)).toBeVisible();
const heading = (text: string | RegExp) => (page: Page) =>
  expect(page.getByRole('main').getByRole('heading', { name: text })).toBeVisible();
const openDialog = (name: string, text: string | RegExp) => (page: Page) =>
  expect(dialog(page, name)).toContainText(text);
const rowOf = (table: string, text: string) => (page: Page) =>
  expect(page.getByRole('table', { name: table })).toContainText(text);
const noApiKey = (page: Page) => loadBelow(page, page.getByText('No API key is stored'));

/** Every screen and every dialog with a URL, filled with data. */
async function screensWithData(operator: Operator): Promise<Screen[]> {
  const { signal, userId } = await tradeOnce(operator);
  const ofSignal = `/signals?signal=${signal.id}&workflow=${signal.workflowId}`;
  const ofWorkflow = `/automation-workflows?signal=${signal.id}&workflow=${signal.workflowId}`;
  return [
    { path: '/', shows: title(/^Welcome, /) },
    { path: '/?range=30d', shows: heading(/^Equity/) },
    { path: '/performance', shows: heading('Equity and drawdown') },
    { path: '/strategies', shows: heading('Tesla') },
    { path: '/alerts', shows: title('Alerts') },
    { path: '/feeds', shows: rowOf('Feeds', 'SOL') },
    { path: '/audit', shows: title('Audit') },
    { path: '/positions', shows: rowOf('Open Positions', 'SOL') },
    { path: '/position-maker', shows: title('Position Maker System') },
    { path: '/settings', shows: noApiKey },
    { path: '/settings?dialog=password', shows: openDialog('Change Password', 'Current password') },
    { path: `/settings?userId=${userId}`, shows: noApiKey },
    { path: '/admin', shows: title('Admin Dashboard') },
    { path: '/configuration', shows: rowOf('Recent deliveries', 'Refused') },
    { path: '/create-client', shows: rowOf('Users', '@example.com') },
    { path: '/create-client?dialog=create', shows: openDialog('Create New User', 'Country Code') },
    { path: '/price-logs', shows: rowOf('Price Logs', 'SOL') },
    { path: '/signals', shows: rowOf('Signal History', 'Completed') },
    { path: `${ofSignal}&dialog=signal`, shows: openDialog('Signal Details', signal.id) },
    { path: `${ofSignal}&dialog=sltp`, shows: openDialog('SL/TP Calculation Details', 'Entry Price') },
    { path: `${ofSignal}&dialog=workflows`, shows: openDialog('Workflows for Signal', 'users successful') },
    { path: `${ofSignal}&dialog=steps`, shows: openDialog('Workflow Execution Details', 'Pipeline') },
    { path: `${ofSignal}&dialog=trades`, shows: openDialog('Trade Details - Signal', 'Filled') },
    { path: `${ofSignal}&dialog=users`, shows: openDialog('Users for Signal', 'users eligible') },
    { path: '/automation-workflows', shows: rowOf('Workflow Runs', 'Completed') },
    { path: `${ofWorkflow}&dialog=steps`, shows: openDialog('Workflow Execution Steps', 'Pipeline') },
    { path: `${ofWorkflow}&dialog=users`, shows: openDialog('Eligible Users', 'users eligible') },
    { path: '/no-such-page', shows: title('Page Not Found') },
  ];
}

/** One filled order of one user, and a refused delivery. */
async function tradeOnce(operator: Operator) {
  const settings = { positionSizingMethod: 'Portfolio Allocation' } as const;
  const user = await operator.createUser({ firstName: 'Ann', settings, activeTrading: true });
  const platform = await operator.platform();
  await platform.candle({ Symbol: 'SOLUSDT', Close: '150', ATR: '2' });
  await platform.signal({ symbol: 'SOLUSDT', price: '{{close}}' });
  const signal = await operator.postSignal({ symbol: 'SOLUSDT', price: '150' });
  expect(signal.successfulTrades).toBeGreaterThan(0);
  return { signal, userId: user.id };
}

// Requirements: additions-everywhere-1, additions-everywhere-3
test('no screen or dialog has a serious axe finding or is wider than a phone', async ({
  page,
  signIn,
  operator,
  scan,
}) => {
  test.setTimeout(600_000);
  const screens = await screensWithData(operator);
  await page.context().clearCookies();
  await page.goto('/');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText('Username is required')).toBeVisible();
  await scan('sign-in');
  await signIn(page);
  for (const { path, shows } of screens) {
    await page.goto(path);
    await shows(page);
    await scan(path);
  }
});

test('no confirmation, toast or menu has a serious axe finding', async ({ page, operator, server, scan }) => {
  const user = await operator.createUser();
  await operator.platform();
  await page.goto('/create-client');
  await page.getByRole('switch', { name: `Active trading of ${user.username}` }).click({ force: true });
  await expect(dialog(page, 'Enable Active Trading')).toBeVisible();
  await scan('the confirmation of active trading');
  await page.getByRole('button', { name: 'Enable Trading' }).click();
  await expect(page.locator('.mantine-Notification-root')).toBeVisible();
  await scan('a toast');

  await page.goto('/');
  await page.getByRole('button', { name: 'Live Trading' }).click();
  await expect(dialog(page, 'System Environment Details')).toContainText('Live Trading Active');
  await scan('the environment dialog');
  await page.keyboard.press('Escape');
  await page.getByRole('banner').getByRole('button', { name: server.adminUsername }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await scan('the user menu');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Display' }).click();
  await expect(page.getByRole('menuitemradio', { name: 'System' })).toBeVisible();
  await scan('the menu of the colour schemes');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Collapse sidebar' }).click();
  await scan('the rail');
  await page.getByRole('button', { name: 'Expand sidebar' }).click();
});

type Scan = (place: string) => Promise<void>;

/** Opens each dialog with data in it, such as a refused test signal and the expanded text of an alert message. */
async function walkWebhookDialogs(page: Page, scan: Scan) {
  const open = (button: string, title: string) => async () => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await expect(dialog(page, title)).toBeVisible();
  };
  const confirm = (button: string, title: string) => async () => {
    await page.getByRole('button', { name: button, exact: true }).click();
    await open('Continue', title)();
  };
  const send = (button: string, title: string, result: string) => async () => {
    await open(button, title)();
    await dialog(page, title).getByLabel('Timeframe').fill('');
    await dialog(page, title).getByRole('button', { name: 'Send' }).click();
    await expect(dialog(page, title).getByRole('alert')).toContainText(result);
  };
  for (const [place, show] of [
    ['the test signal', send('Send test signal', 'Send Test Signal', 'timeframe is required')],
    ['the test candle', send('Send test candle', 'Send Test Candle', 'Timeframe is required')],
    ['the renew warning', open('Renew Key', 'Renew Webhook Key')],
    ['the confirmation of the renewal', confirm('Renew Key', 'Confirm Renewal')],
    ['the delete warning', open('Delete', 'Delete Webhook')],
    ['the confirmation of the deletion', confirm('Delete', 'Confirm Deletion')],
    ['the password for the key', open('Show key', 'View Key')],
  ] as const) {
    await show();
    await scan(place);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
  for (const [name, title] of [
    [/^Suspend the webhook of/, 'Suspend Webhook'],
    [/^Renew the key of the webhook of/, 'Renew the Key of a User'],
    [/^Delete the webhook of/, 'Delete the Webhook of a User'],
  ] as const) {
    await page.getByRole('button', { name }).first().click();
    await expect(dialog(page, title)).toBeVisible();
    await scan(title);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
  }
  const messages = page.locator('summary');
  for (const message of await messages.all()) await message.press('Enter');
  await expect(page.getByRole('region', { name: 'Strategy signal message' })).toBeVisible();
  await scan('the alert messages');
}

test('no dialog of the webhook screen has a serious axe finding', async ({ page, operator, scan }) => {
  test.setTimeout(300_000);
  await operator.platform();
  await page.goto('/configuration');
  await loadBelow(page, page.getByRole('region', { name: 'Webhooks of all users' }));
  await walkWebhookDialogs(page, scan);
});

/** Every state of the settings screen without a URL. */
async function walkSettings(page: Page, userId: string, scan: Scan) {
  await page.goto(`/settings?userId=${userId}`);
  await page.getByRole('button', { name: 'Deactivate' }).click();
  await expect(dialog(page, 'Deactivate User')).toBeVisible();
  await scan('the confirmation of deactivation');
  await page.keyboard.press('Escape');
  await fillCredentials(page, { apiKey: 'key-of-an-exchange', apiSecret: 'secret', passphrase: 'phrase' });
  await page.getByRole('button', { name: 'Save Connection' }).click();
  await expect(page.getByText('Paper trading needs no credentials')).toBeVisible();
  await scan('a saved exchange connection');
  await page.getByRole('button', { name: 'Test Connection' }).click();
  await expect(page.getByText('Futures balance $10,000.00')).toBeVisible();
  await scan('a tested exchange connection');
  await page.getByRole('button', { name: 'Remove' }).click();
  await expect(dialog(page, 'Remove Exchange Connection')).toBeVisible();
  await scan('the confirmation of removal');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Save Connection' }).click();
  await page.getByLabel('Trading paused until').fill('2020-01-01T00:00');
  await page.getByRole('button', { name: 'Save Automation' }).click();
  await expect(page.getByText('The end of the pause must lie in the future')).toBeVisible();
  await scan('refused settings');
  await page.getByRole('link', { name: 'Back to Users' }).click();
  await expect(dialog(page, 'You have unsaved changes')).toBeVisible();
  await scan('the question about unsaved changes');
}

test('no dialog of the settings screen has a serious axe finding', async ({ page, operator, scan }) => {
  test.setTimeout(300_000);
  const { id } = await operator.createUser();
  await walkSettings(page, id, scan);
});

test('neither a refused sign-in nor any state of the users screen has a serious axe finding', async ({
  page,
  operator,
  server,
  expectFailure,
  scan,
}) => {
  const { username } = await operator.createUser({
    firstName: 'Ann',
    countryCode: '+44',
    mobileNumber: '770',
  });
  expectFailure({ path: '/api/auth/login', status: 401 });
  await page.context().clearCookies();
  await page.goto('/');
  await fillLogin(page, { username, password: 'wrong' });
  await expect(page.getByRole('alert')).toHaveText('Invalid username or password');
  await scan('a refused sign-in');
  await fillLogin(page, { username: server.adminUsername, password: server.adminPassword });
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();

  await page.goto('/create-client?search=nobody+at+all');
  await expect(page.getByText('No users match "nobody at all"')).toBeVisible();
  await scan('a search that finds nobody');
  await page.goto('/create-client?dialog=create');
  await dialog(page, 'Create New User').getByRole('button', { name: 'Create User' }).click();
  await expect(page.getByText('Password must be at least 6 characters')).toBeVisible();
  await scan('the messages of a new user');
  await page.goto(`/create-client?search=${username}&sort=name`);
  await page.getByRole('switch', { name: `Status of ${username}` }).click();
  await expect(dialog(page, 'Deactivate User')).toBeVisible();
  await scan('the confirmation of a deactivation');
  await page.getByRole('button', { name: 'Deactivate User' }).click();
  await expect(page.getByRole('switch', { name: `Status of ${username}: Inactive` })).toBeVisible();
  await scan('an inactive user');
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('the delivery log shows every field of a delivery without scrolling', async ({ page, operator }) => {
    const platform = await operator.platform();
    await platform.signal({ symbol: 'SOLUSDT', price: `{{${'a_very_long_placeholder_'.repeat(10)}}}` });
    await page.goto('/configuration');
    const log = page.getByRole('region', { name: 'Recent deliveries' });
    await expect(log).toContainText('a_very_long_placeholder_');
    await expect(log).toContainText('Signal from 127.0.0.1');
    expect(await log.evaluate((region) => region.scrollWidth <= region.clientWidth)).toBe(true);
  });

  // Requirements: screens-header-7
  test('four pages are tabs, and More has the others', async ({ page, scan }) => {
    await page.goto('/');
    const tabs = page.getByRole('navigation', { name: 'Main' });
    await expect(tabs.getByRole('link')).toHaveText(['Dashboard', 'Signals', 'Positions', 'Performance']);
    await tabs.getByRole('link', { name: 'Signals' }).click();
    await expect(pageTitle(page, 'Trading Signals')).toBeVisible();
    await tabs.getByRole('button', { name: 'More' }).click();
    const more = page.getByRole('dialog', { name: 'More' });
    await expect(more.getByRole('link', { name: 'Admin', exact: true })).toBeVisible();
    await scan('More');
    await more.getByRole('link', { name: 'Audit' }).click();
    await expect(pageTitle(page, /Audit/)).toBeVisible();
    await expect(more).toBeHidden();
  });
});
