import type { BrowserContext, Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { NewUser } from './operator.ts';
import { expectToast, fillLogin, pageTitle, signOut, withoutLiveUpdates } from './screen.ts';

/* Two tabs of one browser share the session of the last sign-in. */

const OTHER_USER = 'Another user has signed in to this browser. Nothing was changed.';
const processor = (page: Page) => page.getByLabel('Signal processor');
const saveSettings = (page: Page) => page.getByRole('button', { name: 'Save Settings' }).click();
const shownUser = (page: Page) => page.getByRole('main').locator('dd').nth(1);

async function openSettings(context: BrowserContext, prepare?: (page: Page) => Promise<unknown>) {
  const page = await context.newPage();
  await prepare?.(page);
  await page.goto('/settings');
  await expect(processor(page)).toBeVisible();
  return page;
}

/** Signs out and in as another user, by clicking. */
async function changeUser(page: Page, { from, to }: { from: NewUser; to: NewUser }) {
  await page.goto('/');
  await signOut(page, from.username);
  await fillLogin(page, to);
  await expect(pageTitle(page, `Welcome, ${to.username}`)).toBeVisible();
}

const deaf = (page: Page) => page.addInitScript(() => Reflect.deleteProperty(window, 'BroadcastChannel'));

async function storedProcessor(page: Page): Promise<string> {
  const answer = await page.request.get('/api/user-settings');
  return ((await answer.json()) as { data: { signalProcessor: string } }).data.signalProcessor;
}

test.beforeEach(({ expectFailure }) => {
  // Requests that a tab still sends for the former user.
  for (const status of [401, 409]) expectFailure({ path: '/api/', status });
});

// Requirements: accounts-states-4
test('a change of user reaches every tab, and no data of the former user stays', async ({
  page,
  context,
  operator,
  signIn,
}) => {
  const ann = await operator.createUser({ firstName: 'Ann', settings: { signalProcessor: 'UD Bot' } });
  const bob = await operator.createUser({ firstName: 'Bob' });
  await signIn(page, ann);
  const other = await openSettings(context, withoutLiveUpdates);
  await expect(processor(other)).toHaveValue('UD Bot');
  await page.goto('/');
  await signOut(page, ann.username);
  await expect(pageTitle(other, 'Welcome Back')).toBeVisible();
  await fillLogin(page, bob);
  await expect(other.getByRole('main')).toContainText(bob.username);
  await expect(other.getByRole('main')).not.toContainText(ann.username);
  await expect(processor(other)).toHaveValue('Tesla');

  await processor(other).selectOption('Any');
  await saveSettings(other);
  await expectToast(other, { title: 'Settings Updated' });
  expect(await storedProcessor(page)).toBe('Any');
});

// Requirements: accounts-states-4
test('a tab that missed the notification learns of the new user from its stream', async ({
  page,
  context,
  operator,
  signIn,
  request,
  server,
}) => {
  const [ann, bob] = [await operator.createUser(), await operator.createUser()];
  await signIn(page, ann);
  const other = await openSettings(context, deaf);
  await expect(shownUser(other)).toHaveText(ann.username);
  const [former] = await context.cookies();
  // In one step: a tab that asks while nobody is signed in shows the sign-in screen.
  const signedIn = await request.post('/api/auth/login', { data: bob });
  expect(signedIn.ok()).toBe(true);
  await context.addCookies((await request.storageState()).cookies);
  // Ends the former user's session, and with it the tab's stream.
  const headers = { cookie: `${former?.name}=${former?.value}` };
  expect((await fetch(`${server.url}/api/auth/logout`, { method: 'POST', headers })).ok).toBe(true);
  await expect(other.getByRole('main')).toContainText(bob.username);
  await expect(other.getByRole('main')).not.toContainText(ann.username);
});

// Requirements: sign-in-and-sessions-14
test('a save from a tab with the former user changes nothing', async ({
  page,
  context,
  operator,
  signIn,
}) => {
  const [ann, bob] = [await operator.createUser(), await operator.createUser()];
  await signIn(page, ann);
  const other = await openSettings(context, async (tab) => {
    await deaf(tab);
    await withoutLiveUpdates(tab);
  });
  await changeUser(page, { from: ann, to: bob });
  await expect(shownUser(other)).toHaveText(ann.username);
  await processor(other).selectOption('UD Bot');
  await saveSettings(other);
  await expectToast(other, { title: 'Error', text: OTHER_USER });
  await expect(shownUser(other)).toHaveText(bob.username);
  await expect(processor(other)).toHaveValue('Tesla');
  expect(await storedProcessor(page)).toBe('Tesla');
});

// Requirements: accounts-states-4
test('a tab that becomes visible again checks who is signed in before it reopens its stream', async ({
  page,
  context,
  operator,
  signIn,
}) => {
  const [ann, bob] = [await operator.createUser(), await operator.createUser()];
  await signIn(page, ann);
  const other = await openSettings(context, deaf);
  const turn = (hidden: boolean) =>
    other.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await expect(shownUser(other)).toHaveText(ann.username);
  await other.clock.install();
  await turn(true);
  await other.clock.runFor(11_000);
  await changeUser(page, { from: ann, to: bob });
  await expect(shownUser(other)).toHaveText(ann.username);
  await turn(false);
  await expect(shownUser(other)).toHaveText(bob.username);
});
