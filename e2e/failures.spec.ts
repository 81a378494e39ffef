import { expect, test } from './fixtures.ts';
import { expectToast, fillLogin, pageTitle, tableRow } from './screen.ts';
import { uniqueToken } from './unique.ts';

test.beforeEach(async ({ expectFailure }) => {
  expectFailure({ path: '/', status: 'network' });
});

// Requirements: accounts-messages-4, accounts-messages-20, trading-messages-3
test('a list that cannot be fetched says so, and is fetched on the next try', async ({ page, signIn }) => {
  await signIn(page);
  for (const screen of [
    { path: '/signals', call: '**/api/signals?*', title: 'Failed to fetch signals', table: 'Signal History' },
    {
      path: '/price-logs',
      call: '**/api/price-logs?*',
      title: 'Failed to fetch price logs',
      table: 'Price Logs',
    },
    { path: '/create-client', call: '**/api/admin/users?*', title: 'Failed to fetch users', table: 'Users' },
  ]) {
    await page.route(screen.call, (route) => route.abort());
    await page.goto(screen.path);
    const alert = page.getByRole('alert').filter({ hasText: screen.title });
    await expect(alert).toContainText('The server cannot be reached');
    await page.unroute(screen.call);
    await alert.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('table', { name: screen.table })).toBeVisible();
    await expect(alert).toBeHidden();
  }
});

for (const { path, call, title } of [
  { path: '/signals', call: '**/api/signals?*', title: 'Failed to fetch signals' },
  { path: '/price-logs', call: '**/api/price-logs?*', title: 'Failed to fetch price logs' },
  {
    path: '/automation-workflows',
    call: '**/api/automation-workflows?*',
    title: 'Failed to Fetch Workflows',
  },
  { path: '/create-client', call: '**/api/admin/users?*', title: 'Failed to fetch users' },
]) {
  // Requirements: accounts-messages-20
  test(`the pager of ${path} names no last page while page 3 could not be fetched`, async ({
    page,
    signIn,
    server,
  }) => {
    await signIn(page);
    await page.route(call, (route) => route.abort());
    await page.goto(`${path}?page=3`);
    await expect(page.getByRole('main').getByRole('alert').filter({ hasText: title })).toBeVisible();
    const pager = page.getByRole('navigation', { name: 'Pagination' });
    await expect(pager).toContainText('Page 3');
    await expect(pager).not.toContainText(/ of \d|entries/);
    await expect(pager.getByRole('button', { name: 'Next' })).toBeDisabled();
    await pager.getByRole('button', { name: 'Previous' }).click();
    await expect(page).toHaveURL(`${server.url}${path}?page=2`);
    await expect(pager).toContainText('Page 2');
  });
}

// Requirements: trading-messages-3
test('the parts of the signals page fail apart from each other', async ({ page, signIn }) => {
  await signIn(page);
  const lists = /\/api\/signals\/(stats|tokens|processors|timeframes)$/;
  await page.route(lists, (route) => route.abort());
  await page.goto('/signals');
  for (const title of ['stats', 'tokens', 'processors', 'timeframes']) {
    await expect(page.getByRole('alert').filter({ hasText: `Failed to fetch ${title}` })).toBeVisible();
  }
  await expect(page.getByRole('table', { name: 'Signal History' })).toBeVisible();
  await page.unroute(lists);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
});

// Requirements: accounts-messages-20
test('the choices of filters that cannot be fetched have a retry of their own', async ({ page, signIn }) => {
  await signIn(page);
  for (const { path, lists, titles, table } of [
    {
      path: '/price-logs',
      lists: /\/api\/price-logs\/(tokens|processors|timeframes)$/,
      titles: ['tokens', 'timeframes', 'processors'],
      table: 'Price Logs',
    },
    {
      path: '/automation-workflows',
      lists: /\/api\/automation-workflows\/(processors|statuses)$/,
      titles: ['processors', 'statuses'],
      table: 'Workflow Runs',
    },
  ]) {
    await page.route(lists, (route) => route.abort());
    await page.goto(path);
    for (const title of titles) {
      const alert = page.getByRole('alert').filter({ hasText: `Failed to fetch ${title}` });
      await expect(alert.getByRole('button', { name: 'Try again' })).toBeVisible();
    }
    await expect(page.getByRole('table', { name: table })).toBeVisible();
    await page.unroute(lists);
    for (const title of titles) {
      const alert = page.getByRole('alert').filter({ hasText: `Failed to fetch ${title}` });
      await alert.getByRole('button', { name: 'Try again' }).click();
      await expect(alert).toHaveCount(0);
    }
  }
});

// Requirements: accounts-messages-2, trading-messages-2, trading-messages-5
test('an error answer is shown with its status', async ({ page, signIn, expectFailure }) => {
  expectFailure({ path: '/api/automation-workflows', status: 500 });
  await signIn(page);
  const call = '**/api/automation-workflows?*';
  await page.route(call, (route) =>
    route.fulfill({ status: 500, json: { message: 'Internal server error' } }),
  );
  await page.goto('/automation-workflows');
  await expectToast(page, { title: 'Failed to Fetch Workflows', text: 'Internal server error' });
  const failed = page.getByRole('main').getByRole('alert');
  await expect(failed).toContainText('500: {"message":"Internal server error"}');
  await page.unroute(call);
  await failed.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('table', { name: 'Workflow Runs' })).toBeVisible();
});

test('a page whose code cannot be loaded says so, and loads on the next try', async ({ page, signIn }) => {
  await signIn(page);
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await page.route('**/assets/price-logs-page-*.js', (route) => route.abort());
  await page.getByRole('link', { name: 'Price Logs', exact: true }).click();
  const alert = page.getByRole('alert').filter({ hasText: 'This page could not be shown' });
  await expect(alert).toBeVisible();
  await page.unroute('**/assets/price-logs-page-*.js');
  await alert.getByRole('button', { name: 'Try again' }).click();
  await expect(pageTitle(page, 'Price Logs')).toBeVisible();
});

// Requirements: accounts-messages-20, trading-messages-4
test('while the server is away what was loaded stays, and everything comes back with it', async ({
  page,
  signIn,
  server,
  operator,
}) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await signIn(page);
  await page.goto(`/signals?token=${signal.token}`);
  const row = tableRow(page, 'Signal History', signal.token);
  await expect(row).toBeVisible();

  await server.stop();
  await page.getByRole('button', { name: 'Refresh' }).click();
  const banner = page.getByRole('alert').filter({ hasText: 'Failed to fetch signals' });
  await expect(banner).toBeVisible();
  await expect(row).toBeVisible();
  await page.getByRole('button', { name: /^Trigger the workflow of signal/ }).click();
  await expectToast(page, {
    title: 'Failed to Trigger Workflow',
    text: 'Failed to trigger automation workflow',
  });

  await server.start();
  await banner.getByRole('button', { name: 'Try again' }).click();
  await expect(banner).toBeHidden();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(page.getByRole('main').getByRole('alert')).toHaveCount(0);
  await expect(row).toBeVisible();
});

// Requirements: accounts-messages-5
test('somebody who cannot be signed in for want of a server is told so', async ({ page, server }) => {
  await page.goto('/');
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await server.stop();
  await fillLogin(page, { username: server.adminUsername, password: server.adminPassword });
  await expect(page.getByRole('alert')).toHaveText('Login failed. Please try again.');
  await server.start();
  await fillLogin(page, { username: server.adminUsername, password: server.adminPassword });
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});

test('somebody who signs in after an update that took the old code away can load the new one', async ({
  page,
  server,
}) => {
  await page.goto('/');
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await page.route('**/assets/signed-in-*.js', (route) => route.abort());
  await fillLogin(page, { username: server.adminUsername, password: server.adminPassword });
  await expect(pageTitle(page, 'Signal Board cannot be reached')).toBeVisible();
  await page.unroute('**/assets/signed-in-*.js');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});

// Requirements: screens-session-states-3
test('a session that cannot be looked up is an error, and not the sign-in screen', async ({
  page,
  signIn,
}) => {
  await signIn(page);
  await page.route('**/api/auth/user', (route) => route.abort());
  await page.goto('/');
  await expect(pageTitle(page, 'Signal Board cannot be reached')).toBeVisible();
  await page.unroute('**/api/auth/user');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
});
