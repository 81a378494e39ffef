import { expect, test } from './fixtures.ts';
import { fillLogin, pageTitle, signOut } from './screen.ts';

test.use({ startsSignedIn: false });

test.describe('the sign-in screen', () => {
  // Requirements: screens-sign-in-3, accounts-messages-5
  test("shows the server's message in a red alert when the password is wrong", async ({
    page,
    server,
    expectFailure,
  }) => {
    expectFailure({ path: '/api/auth/login', status: 401 });
    await page.goto('/');
    await fillLogin(page, { username: server.adminUsername, password: 'not the password' });
    const alert = page.getByRole('alert');
    await expect(alert).toHaveText('Invalid username or password');
    const [red = 0, green = 0, blue = 0] = await alert.evaluate((element) =>
      Array.from(getComputedStyle(element).backgroundColor.matchAll(/[\d.]+/g), Number),
    );
    expect(red).toBeGreaterThan(Math.max(green, blue));
    await expect(pageTitle(page, 'Welcome Back')).toBeVisible();

    await fillLogin(page, { username: server.adminUsername, password: server.adminPassword });
    await expect(pageTitle(page, `Welcome, ${server.adminUsername}`)).toBeVisible();
  });

  // Requirements: screens-session-states-2, screens-sign-in-4, accounts-states-1, accounts-roles-1
  // Requirements: accounts-calls-22
  test('appears at every path while signed out and leads to the dashboard', async ({ page, server }) => {
    for (const path of ['/settings', '/admin', '/signals?token=BTC', '/no/such/page']) {
      await page.goto(path);
      await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
      await expect(page.getByRole('banner')).toHaveCount(0);
    }
    await fillLogin(page, { username: server.adminUsername.toUpperCase(), password: server.adminPassword });
    await expect(pageTitle(page, `Welcome, ${server.adminUsername}`)).toBeVisible();
    await expect(page).toHaveURL(`${server.url}/`);
  });
});

// Requirements: accounts-states-2, accounts-calls-1
test('signing out ends the session and clears the data on screen', async ({
  page,
  server,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await signIn(page);
  await page.goto('/');
  await expect(pageTitle(page, /^Welcome, /)).toBeVisible();
  await page.goto('/create-client');
  await expect(page.getByRole('table', { name: 'Users' })).toContainText(user.username);
  const before = await page.context().cookies();
  await signOut(page, server.adminUsername);

  await page.goBack();
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await page.goto('/create-client');
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();

  await page.context().addCookies(before);
  const answer = await page.request.get('/api/auth/user');
  expect(answer.status()).toBe(401);
});

// Requirements: accounts-states-3, live-updates-6
test('a deactivated user returns to the sign-in screen and cannot sign in', { tag: '@long' }, async ({
  user,
  page,
  operator,
  expectFailure,
}) => {
  expectFailure({ path: '/api/', status: 401 });
  await page.goto('/');
  await expect(pageTitle(page, `Welcome, ${user.username}`)).toBeVisible();

  await operator.setActive(user.id, false);
  await expect(pageTitle(page, 'Welcome Back')).toBeVisible();
  await fillLogin(page, user);
  await expect(page.getByRole('alert')).toHaveText('Invalid username or password');

  await operator.setActive(user.id, true);
  await fillLogin(page, user);
  await expect(pageTitle(page, `Welcome, ${user.username}`)).toBeVisible();
});

// Requirements: sign-in-and-sessions-22
test('the built page has no inline script, and its policy blocks them', async ({ browser, server }) => {
  // Not a watched browser: the blocked script shows as an error on the console.
  const context = await browser.newContext({ baseURL: server.url });
  const page = await context.newPage();
  const answer = await page.goto('/');
  const html = (await answer?.text()) ?? '';
  expect(html).toContain('<script type="module"');
  expect(html.match(/<script(?![^>]*\ssrc=)[^>]*>/g)).toBeNull();
  expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
  const policy = answer?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toContain('unsafe');

  const refused = await page.evaluate(
    () =>
      new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
        const script = document.createElement('script');
        script.textContent = 'document.title = "ran"';
        document.head.append(script);
      }),
  );
  expect(refused).toBe('script-src-elem');
  expect(await page.title()).not.toBe('ran');
  await context.close();
});
