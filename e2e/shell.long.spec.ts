import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { pageTitle, tableRow } from './screen.ts';
import { uniqueName } from './unique.ts';

const header = (page: Page) => page.getByRole('banner');
const userMenu = (page: Page, username: string) => page.getByRole('button', { name: username, exact: true });
const scheme = (page: Page) => page.locator('html');

/** Holds calls that match the pattern until `release` is called. */
async function hold(page: Page, pattern: string) {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(pattern, async (route) => {
    await held;
    await route.continue();
  });
  return release;
}

// Requirements: screens-session-states-1
test('shows a full-screen Loading... spinner until the code has loaded and the session is known', async ({
  page,
}) => {
  const releaseCode = await hold(page, '**/assets/*.js');
  const releaseSession = await hold(page, '**/api/auth/user');
  await page.goto('/', { waitUntil: 'commit' });
  const loading = page.getByRole('status');
  const expectFullScreen = async () => {
    await expect(loading).toHaveText('Loading...');
    await expect(loading.locator('.spinner')).toBeVisible();
    const box = await page.getByRole('main').boundingBox();
    expect(box).toEqual({
      x: 0,
      y: 0,
      width: page.viewportSize()?.width,
      height: page.viewportSize()?.height,
    });
  };
  await expectFullScreen();
  const lookUp = page.waitForRequest('**/api/auth/user');
  releaseCode();
  await lookUp;
  await expectFullScreen();
  releaseSession();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  // The first steps of a new installation have a status, too.
  await expect(loading.filter({ hasText: 'Loading...' })).toHaveCount(0);
});

// Requirements: screens-header-9
test('every link of the header and the dashboards leads to a page', async ({
  page,
  signIn,
  operator,
  openBrowser,
}) => {
  const elsewhere = await openBrowser();
  await signIn(elsewhere, await operator.createUser());
  for (const somebody of [page, elsewhere]) {
    const paths = new Set<string>();
    for (const start of ['/', '/admin']) {
      await somebody.goto(start);
      await expect(header(somebody).getByRole('link', { name: 'Dashboard' })).toBeVisible();
      await expect(somebody.getByRole('main').getByRole('link').first()).toBeVisible();
      const links = await somebody
        .getByRole('link')
        .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
      // Statements are files.
      for (const href of links) if (href?.startsWith('/') && !href.startsWith('/api/')) paths.add(href);
    }
    expect(paths.size).toBeGreaterThan(2);
    for (const path of paths) {
      await somebody.goto(path);
      await expect(pageTitle(somebody, /./)).toBeVisible();
      await expect(pageTitle(somebody, 'Page Not Found'), path).toHaveCount(0);
    }
  }
});

// Requirements: screens-header-8
test('the choice of light, dark or system scheme survives a reload', async ({ page }) => {
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'Display' }).click();
    await page.getByRole('menuitemradio', { name }).click();
  };
  const attribute = 'data-mantine-color-scheme';
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/');
  await expect(scheme(page)).toHaveAttribute(attribute, 'light');
  await choose('Dark');
  await expect(scheme(page)).toHaveAttribute(attribute, 'dark');
  await page.reload();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await expect(scheme(page)).toHaveAttribute(attribute, 'dark');
  await choose('Light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect(scheme(page)).toHaveAttribute(attribute, 'light');
  await choose('System');
  await expect(scheme(page)).toHaveAttribute(attribute, 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await expect(scheme(page)).toHaveAttribute(attribute, 'light');
  await page.getByRole('button', { name: 'Display' }).click();
  await expect(page.getByRole('menuitemradio', { name: 'System' })).toBeChecked();
});

// Requirements: screens-header-6
test('every page has its own title, and navigation starts at the top of the page', async ({
  page,
  server,
  signIn,
}) => {
  await page.context().clearCookies();
  await page.goto('/');
  await expect(page).toHaveTitle('Sign in - Signal Board');
  await signIn(page);
  await page.goto('/');
  await expect(page).toHaveTitle('Dashboard - Signal Board');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();

  await header(page).getByRole('link', { name: 'Users' }).press('Enter');
  await expect(page).toHaveTitle('Users - Signal Board');
  await expect(page.getByRole('main')).toBeFocused();
  await page.getByRole('link', { name: 'Back to Admin' }).press('Enter');
  await expect(page).toHaveTitle('Admin Dashboard - Signal Board');
  await page.goBack();
  await expect(page).toHaveTitle('Users - Signal Board');
  await userMenu(page, server.adminUsername).press('Enter');
  await expect(page.getByRole('menuitem', { name: 'Settings' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page).toHaveTitle('User Settings - Signal Board');
  await expect(page.getByRole('main')).toBeFocused();
  await page.goto('/no-such-page');
  await expect(page).toHaveTitle('Page Not Found - Signal Board');
});

// Requirements: accounts-messages-19, accounts-limits-10
test('a toast stays for five seconds and is at most 700 pixels wide, 800 on large screens', async ({
  page,
  expectFailure,
}) => {
  expectFailure({ path: '/api/auth/logout', status: 'network' });
  await page.clock.install({ time: new Date('2026-03-04T05:06:00Z') });
  await page.goto('/');
  await page.route('**/api/auth/logout', (route) => route.abort());
  await page.getByRole('button', { name: /@/ }).click();
  await expect(page.getByRole('menuitem', { name: 'Sign Out' })).toBeVisible();
  await page.clock.pauseAt(new Date('2026-03-04T06:00:00Z'));
  await page.getByRole('menuitem', { name: 'Sign Out' }).click();
  const toast = page.locator('.mantine-Notification-root');
  await expect(toast).toContainText('Failed to sign out');
  await page.clock.runFor(4_900);
  await expect(toast).toBeVisible();
  // Top right, below the bar.
  const places = page.locator('[data-toasts]');
  expect(await places.evaluate((element) => element.getBoundingClientRect().top)).toBe(64);
  expect(await places.evaluate((element) => innerWidth - element.getBoundingClientRect().right)).toBe(16);
  await page.clock.runFor(99);
  await expect(toast).toBeVisible();
  // Its exit animation takes a moment more.
  await page.clock.runFor(500);
  await expect(toast).toHaveCount(0);

  const widest = () =>
    page.locator('[data-toasts]').evaluate((element) => getComputedStyle(element).maxWidth);
  await expect.poll(widest).toBe('800px');
  await page.setViewportSize({ width: 1100, height: 800 });
  await expect.poll(widest).toBe('700px');
});

const LONG_NAME = 'featherstonehaugh.montgomery.trading@example.co.uk';

// Requirements: screens-header-3
test('the bar shows the badge, Admin and a full long name at every width, in light and dark', async ({
  page,
  operator,
  signIn,
}) => {
  const username = `${uniqueName('a')}.${LONG_NAME.slice(11)}`;
  expect(username).toHaveLength(50);
  await signIn(page, await operator.createUser({ username, isAdmin: true }));
  await page.goto('/');
  const links = header(page).getByRole('navigation', { name: 'Main' }).getByRole('link');
  const name = header(page).getByText(username, { exact: true });
  const shown = [
    header(page).getByText('Paper', { exact: true }),
    header(page).getByRole('button', { name: 'Live Trading' }),
    header(page).getByRole('button', { name: 'Search and go to' }),
    header(page).getByRole('link', { name: 'Admin', exact: true }),
    header(page).getByRole('button', { name: username, exact: true }),
  ];
  for (const width of [768, 1024, 1100, 1280, 1343, 1344, 1440, 1760]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const boxes = [];
      // An initial stands for the name in the narrowest bar; the menu then has the name.
      for (const part of width > 900 ? [...shown, name] : shown) {
        await expect(part).toBeInViewport({ ratio: 1 });
        expect(await part.evaluate((box) => box.scrollWidth - box.clientWidth), 'is not cut').toBeLessThan(1);
        if (part !== name) boxes.push(await part.boundingBox());
      }
      for (const [at, box] of boxes.entries()) {
        expect(box && box.y >= 0 && box.y + box.height <= 56).toBe(true);
        const next = boxes[at + 1];
        if (box && next) expect(box.x + box.width, 'nothing covers it').toBeLessThanOrEqual(next.x);
      }
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    for (const link of await links.all()) await expect(link).toBeInViewport({ ratio: 1 });
    await expect(links.first()).toHaveText('Dashboard');
  }
});

// Requirements: screens-header-11
test('the sidebar is a rail with tips in windows of up to 1,343 pixels', async ({ page }) => {
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome/)).toBeVisible();
  const link = header(page).getByRole('link', { name: 'Position Maker' });
  const widthOf = async (width: number) => {
    await page.setViewportSize({ width, height: 800 });
    const frame = await page.getByRole('main').boundingBox();
    return Math.round(frame?.x ?? 0);
  };
  const tip = page.getByRole('tooltip');
  for (const [width, left] of [
    [1024, 64],
    [1343, 64],
    [1344, 220],
  ] as const) {
    expect(await widthOf(width), `at ${width}`).toBe(left);
    await page.mouse.move(600, 700);
    await link.hover();
    if (left === 64) {
      await expect(tip).toHaveText('Position Maker');
      const [beside, icon] = [await tip.boundingBox(), await link.boundingBox()];
      expect(beside && icon && beside.x >= icon.x + icon.width).toBe(true);
    } else await expect(tip).toHaveCount(0);
  }
  await expect(link).toHaveCSS('min-height', '34px');
});

// Requirements: screens-header-12
test('rail and dense rows are remembered, and the content is at most 1,680 pixels wide', async ({
  page,
  server,
}) => {
  await page.setViewportSize({ width: 2200, height: 900 });
  await page.goto('/create-client');
  // Longer names take two lines.
  const row = tableRow(page, 'Users', server.adminUsername);
  const height = async () => Math.round((await row.boundingBox())?.height ?? 0);
  const box = async () => await page.getByRole('main').boundingBox();
  await expect(row).toBeVisible();
  await expect.poll(height).toBe(36);
  expect((await box())?.width).toBe(1680);
  await page.getByRole('button', { name: 'Collapse sidebar' }).click();
  await page.getByRole('button', { name: 'Display' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Dense rows' }).click();
  await page.reload();
  await expect(row).toBeVisible();
  await expect.poll(height).toBeLessThan(32);
  await page.setViewportSize({ width: 1440, height: 900 });
  expect((await box())?.x).toBe(64);
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } });

  // Requirements: screens-header-4, screens-header-7
  test('the user menu names the user, and the whole header fits the screen', async ({ page, server }) => {
    await page.goto('/');
    await expect(header(page).getByText('Paper', { exact: true })).toBeInViewport({ ratio: 1 });
    await userMenu(page, server.adminUsername).hover();
    await expect(page.getByRole('tooltip')).toHaveText(server.adminUsername);
    await userMenu(page, server.adminUsername).click();
    const menu = page.getByRole('menu');
    await expect(menu).toBeInViewport({ ratio: 1 });
    await expect(menu.getByText(server.adminUsername)).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(userMenu(page, server.adminUsername)).toBeInViewport({ ratio: 1 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const tabs = header(page).getByRole('navigation', { name: 'Main' }).locator('a:visible, button:visible');
    await expect(tabs).toHaveCount(5);
    for (const tab of await tabs.all()) {
      await expect(tab).toBeInViewport({ ratio: 1 });
      expect((await tab.boundingBox())?.height).toBeGreaterThan(60);
    }

    await header(page).getByRole('button', { name: 'Live Trading' }).click();
    const details = page.getByRole('dialog', { name: 'System Environment Details' });
    await expect(details.getByText('Auto-refreshes every 30 seconds')).toBeVisible();
    expect(await details.evaluate((box) => box.scrollWidth <= box.clientWidth)).toBe(true);
  });

  // Requirements: screens-sign-in-1
  test('the sign-in screen still describes the product', async ({ page }) => {
    await page.context().clearCookies();
    await page.goto('/');
    await expect(page.getByRole('main')).toContainText(
      'Smart trading solutions: signals, a position calculator, risk management and profit optimization.',
    );
  });
});
