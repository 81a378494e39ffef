import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog, pageTitle } from './screen.ts';

// A colour in the middle of a transition has no contrast worth measuring.
test.use({ colorScheme: 'light', contextOptions: { reducedMotion: 'reduce' } });

interface Screen {
  path: string;
  /** What shows that the screen has its data. */
  shows: (page: Page) => Promise<void>;
}

const title = (text: string | RegExp) => (page: Page) => expect(pageTitle(page, text)).toBeVisible();
const openDialog = (name: string, text: string | RegExp) => (page: Page) =>
  expect(dialog(page, name)).toContainText(text);
const rowOf = (table: string, text: string) => (page: Page) =>
  expect(page.getByRole('table', { name: table })).toContainText(text);

/** Every screen and every dialog that has an address, with data in it. */
async function screensWithData(operator: Operator): Promise<Screen[]> {
  const { signal, userId } = await tradeOnce(operator);
  const ofSignal = `/signals?signal=${signal.id}&workflow=${signal.workflowId}`;
  const ofWorkflow = `/automation-workflows?signal=${signal.id}&workflow=${signal.workflowId}`;
  return [
    { path: '/', shows: title(/^Welcome, /) },
    { path: '/settings', shows: (page) => expect(page.getByLabel('Market type')).toBeVisible() },
    { path: '/settings?dialog=password', shows: openDialog('Change Password', 'Current password') },
    { path: `/settings?userId=${userId}`, shows: title(/^User Settings - /) },
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

test('no screen and no dialog has a serious finding of axe', async ({ page, signIn, operator }) => {
  test.setTimeout(120_000);
  const screens = await screensWithData(operator);
  await page.goto('/');
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in' }).click();
  const findings = await seriousFindings(page, 'sign-in');
  await signIn(page);
  for (const { path, shows } of screens) {
    await page.goto(path);
    await shows(page);
    findings.push(...(await seriousFindings(page, path)));
  }
  expect(findings).toEqual([]);
});

test('no confirmation, toast or menu has a serious finding of axe', async ({
  page,
  signIn,
  operator,
  server,
}) => {
  const user = await operator.createUser();
  await operator.platform();
  await signIn(page);
  const findings: string[] = [];
  const scan = async (place: string) => void findings.push(...(await seriousFindings(page, place)));

  await page.goto('/create-client');
  await page.getByRole('switch', { name: `Active trading of ${user.username}` }).click({ force: true });
  await expect(dialog(page, 'Enable Active Trading')).toBeVisible();
  await scan('the confirmation of active trading');
  await page.getByRole('button', { name: 'Enable Trading' }).click();
  await expect(page.locator('.mantine-Notification-root')).toBeVisible();
  await scan('a toast');

  await page.goto('/configuration');
  await page.getByRole('button', { name: 'Delete' }).click();
  await expect(dialog(page, 'Delete Webhook')).toBeVisible();
  await scan('the delete warning');
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(dialog(page, 'Confirm Deletion')).toBeVisible();
  await scan('the password dialog');
  await page.getByRole('button', { name: 'Cancel' }).click();

  await page.getByRole('button', { name: 'Live Trading' }).click();
  await expect(dialog(page, 'System Environment Details')).toContainText('Live Trading Active');
  await scan('the environment dialog');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: server.adminUsername }).click();
  await expect(page.getByRole('menu')).toBeVisible();
  await scan('the user menu');
  expect(findings).toEqual([]);
});

test.describe('on a telephone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  test('no screen and no dialog is wider than the screen', async ({ page, signIn, operator }) => {
    const screens = await screensWithData(operator);
    await page.goto('/');
    await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
    await expectNoOverflow(page, 'sign-in');
    await signIn(page);
    for (const { path, shows } of screens) {
      await page.goto(path);
      await shows(page);
      await expectNoOverflow(page, path);
    }
  });

  test('the navigation opens as a drawer', async ({ page, signIn }) => {
    await signIn(page);
    await page.goto('/');
    await page.getByRole('button', { name: 'Open navigation' }).click();
    const drawer = page.getByRole('dialog', { name: 'Navigation' });
    await expect(drawer.getByRole('link', { name: 'Admin', exact: true })).toBeVisible();
    expect(await seriousFindings(page, 'the drawer')).toEqual([]);
    await drawer.getByRole('link', { name: 'Signals' }).click();
    await expect(pageTitle(page, 'Trading Signals')).toBeVisible();
    await expect(drawer).toBeHidden();
  });
});

/** Every rule in light colours; in dark ones, only what depends on colours is looked at again. */
async function seriousFindings(page: Page, place: string): Promise<string[]> {
  // There are no frames, for whose sake axe would gather its results in another page.
  const axe = () => new AxeBuilder({ page }).setLegacyMode();
  const light = await axe().analyze();
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark');
  const dark = await axe().withRules(['color-contrast', 'link-in-text-block']).analyze();
  await page.emulateMedia({ colorScheme: 'light' });
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'light');
  return [...describeFindings(light, `${place} (light)`), ...describeFindings(dark, `${place} (dark)`)];
}

const describeFindings = ({ violations }: AxeResults, place: string): string[] =>
  violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${place}: ${id}: ${html.slice(0, 200)}`));

type AxeResults = Awaited<ReturnType<AxeBuilder['analyze']>>;

async function expectNoOverflow(page: Page, place: string) {
  const widths = await page.evaluate(() => ({
    content: document.documentElement.scrollWidth,
    screen: document.documentElement.clientWidth,
  }));
  expect(widths.content, `${place} is as wide as the screen`).toBeLessThanOrEqual(widths.screen);
}
