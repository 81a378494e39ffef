import type { Page } from '@playwright/test';
import { seriousFindingsInBothSchemes } from './axe.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { dialog, pageTitle } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT, contextOptions: { reducedMotion: 'reduce' } });

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search and go to' });
const field = (page: Page) => palette(page).getByRole('combobox', { name: 'Search' });
const options = (page: Page) => palette(page).getByRole('option');

async function open(page: Page) {
  await page.keyboard.press('Control+k');
  await expect(field(page)).toBeFocused();
}

async function goTo(page: Page, text: string, label: string | RegExp) {
  await open(page);
  await field(page).fill(text);
  await expect(options(page).filter({ hasText: label })).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Enter');
  await expect(palette(page)).toBeHidden();
}

// Requirements: additions-finding-keys-and-columns-2
test('an administrator goes to a page, a token, a user, a signal and a workflow by keyboard alone', async ({
  page,
  operator,
  signIn,
  server,
  expectFailure,
}) => {
  const token = uniqueToken();
  const user = await operator.createUser({ username: `${uniqueName('palette')}@example.com` });
  const signal = await operator.postSignal({ symbol: `${token}USDT`, processor: uniqueName('robot') });
  await signIn(page);
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();

  await goTo(page, 'price', 'Price Logs');
  await expect(pageTitle(page, 'Price Logs')).toBeVisible();
  await goTo(page, token.slice(0, 6), token);
  await expect(page).toHaveURL(`${server.url}/signals?token=${token}`);
  await goTo(page, user.username.slice(0, 12), user.username);
  await expect(pageTitle(page, `User Settings - ${user.username}`)).toBeVisible();

  const shortId = `${signal.id.slice(0, 4)}...${signal.id.slice(-4)}`;
  for (const text of [shortId, signal.id.slice(-6), ` ${signal.id.toUpperCase()} `]) {
    await goTo(page, text, shortId);
    await expect(dialog(page, 'Signal Details')).toContainText(signal.id);
    await page.keyboard.press('Escape');
    await expect(dialog(page, 'Signal Details')).toBeHidden();
  }

  const workflowId = signal.workflowId ?? '';
  expectFailure({ path: `/api/signals/${workflowId}`, status: 404 });
  await goTo(page, workflowId, workflowId.slice(-4));
  await expect(dialog(page, 'Workflow Execution Steps')).toContainText('Validate Signal');
});

// Requirements: additions-finding-keys-and-columns-2
test('an old signal that no list holds is found by its whole id, and an id of nothing is said so', async ({
  page,
  operator,
  signIn,
  expectFailure,
}) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await signIn(page);
  await page.route('**/api/signals?*', (route) => route.fulfill({ json: { signals: [], total: 0 } }));
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await goTo(page, signal.id, signal.token);
  await expect(dialog(page, 'Signal Details')).toContainText(signal.id);
  await page.keyboard.press('Escape');

  const nothing = '01890a5d-ac96-774b-bcce-b302099a8057';
  for (const path of ['/api/signals/', '/api/automation-workflows/']) expectFailure({ path, status: 404 });
  await open(page);
  await field(page).fill(nothing);
  await expect(palette(page).getByRole('status')).toHaveText('Nothing found');
  await expect(options(page)).toHaveCount(0);
  await page.keyboard.press('Enter');
  await expect(palette(page)).toBeVisible();

  await page.route(`**/api/signals/${signal.workflowId}`, (route) =>
    route.fulfill({ status: 500, json: { message: 'Internal server error' } }),
  );
  expectFailure({ path: '/api/signals/', status: 500 });
  await field(page).fill(signal.workflowId ?? '');
  await expect(palette(page).getByRole('status')).toHaveText('Could not be loaded: this id');
});

// Requirements: additions-finding-keys-and-columns-3
test('an ordinary user finds the own pages and nothing else', async ({ page, operator, signIn }) => {
  const [token, user] = [uniqueToken(), await operator.createUser()];
  const signal = await operator.postSignal({ symbol: `${token}USDT` });
  await signIn(page, user);
  const calls: string[] = [];
  page.on('request', (request) => calls.push(new URL(request.url()).pathname));
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await open(page);
  await expect(options(page)).toHaveText([/^Dashboard/, /^Webhook/, /^Settings/, /^Keyboard Shortcuts/]);
  for (const text of [token, user.username, signal.id, 'admin', 'signals']) {
    await field(page).fill(text);
    await expect(palette(page).getByRole('status')).toHaveText('Nothing found');
  }
  expect(calls.filter((path) => /^\/api\/(signals|users|automation)/.test(path))).toEqual([]);
  await field(page).fill('settings');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/settings$/);
});

test('the arrows choose, the pointer chooses, Escape and the same keys close', async ({ page, signIn }) => {
  await signIn(page);
  await page.goto('/price-logs');
  await expect(pageTitle(page, 'Price Logs')).toBeVisible();
  // It cannot have the focus while the list is being fetched.
  await expect(page.getByRole('button', { name: 'Refresh' })).toBeEnabled();
  await page.getByRole('button', { name: 'Refresh' }).focus();
  await open(page);
  const active = async () => {
    const id = await field(page).getAttribute('aria-activedescendant');
    return await page.locator(`[id="${id}"]`).textContent();
  };
  expect(await active()).toContain('Dashboard');
  await page.keyboard.press('ArrowDown');
  expect(await active()).toContain('Price Logs');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  expect(await active()).toContain('Keyboard Shortcuts');
  await expect(options(page).last()).toBeInViewport();
  await options(page).filter({ hasText: 'Workflows' }).hover();
  expect(await active()).toContain('Workflows');

  await page.keyboard.press('Escape');
  await expect(palette(page)).toBeHidden();
  await expect(page.getByRole('button', { name: 'Refresh' })).toBeFocused();
  await open(page);
  await page.keyboard.press('Control+k');
  await expect(palette(page)).toBeHidden();
  await open(page);
  await options(page).filter({ hasText: 'Workflows' }).click();
  await expect(pageTitle(page, 'Automation Workflows')).toBeVisible();
});

test('in a dialog the key opens nothing over it', async ({ page, signIn }) => {
  await signIn(page);
  await page.goto('/create-client?dialog=create');
  const firstName = dialog(page, 'Create New User').getByLabel('First Name');
  await firstName.press('Control+k');
  await page.keyboard.type('Alexandrina Victoria', { delay: 30 });
  await expect(firstName).toHaveValue('Alexandrina Victoria');
  // What was typed would be asked about.
  await firstName.clear();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('what cannot be loaded is said, and the pages are there all the same', async ({
  page,
  signIn,
  expectFailure,
}) => {
  expectFailure({ path: '/api/users', status: 'network' });
  await signIn(page);
  await page.route('**/api/users', (route) => route.abort());
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await open(page);
  await expect(palette(page).getByRole('status')).toHaveText('Could not be loaded: users');
  await expect(options(page).filter({ hasText: 'Price Logs' })).toBeVisible();
});

// Requirements: additions-everywhere-1
test('neither the palette nor the list of keys nor the menu of columns has a serious finding of axe', async ({
  page,
  operator,
  signIn,
}) => {
  // Every token and timeframe that has a colour stands in the table.
  const platform = await operator.platform();
  const tokens =
    'BTC ETH SOL SUI TON ADA XRP DOGE MATIC AVAX DOT LINK UNI LTC ATOM NEAR FTM ALGO OTHER'.split(' ');
  const timeframes = '1 2 5 15 30 1h 4h 1d 7'.split(' ');
  await Promise.all(
    tokens.map((token, index) =>
      platform.candle({ Symbol: `${token}USDT`, Timeframe: timeframes[index % timeframes.length] }),
    ),
  );
  await signIn(page);
  const findings: string[] = [];
  const scan = async (place: string) =>
    void findings.push(...(await seriousFindingsInBothSchemes(page, place)));
  await page.goto('/price-logs');
  await expect(page.getByRole('table', { name: 'Price Logs' })).toContainText('ALGO');
  await scan('badges');
  await page.getByRole('button', { name: 'Columns' }).click();
  await scan('the menu of columns');
  await page.keyboard.press('Escape');
  await open(page);
  await field(page).fill('s');
  await expect(options(page).filter({ hasText: /^Settings/ })).toBeVisible();
  await scan('the palette');
  await field(page).fill('no such thing');
  await scan('the palette without a result');
  await page.keyboard.press('Escape');
  await expect(palette(page)).toBeHidden();
  await page.keyboard.press('?');
  await expect(dialog(page, 'Keyboard Shortcuts')).toBeVisible();
  await scan('the list of keys');
  expect(findings).toEqual([]);
});

test.describe('on a telephone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  // Requirements: additions-everywhere-3
  test('the palette and the menu of columns are not wider than the screen', async ({ page, signIn }) => {
    await signIn(page);
    for (const path of ['/price-logs', '/signals', '/automation-workflows']) {
      await page.goto(path);
      await page.getByRole('button', { name: 'Columns' }).click();
      await expect(page.getByRole('menu', { name: 'Columns' })).toBeInViewport();
      const box = await page.getByRole('menu', { name: 'Columns' }).boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
      await page.keyboard.press('Escape');
    }
    await open(page);
    const box = await palette(page).boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    await palette(page).getByRole('button', { name: 'Close dialog' }).click();
    await expect(palette(page)).toBeHidden();
  });
});
