import type { Page } from '@playwright/test';
import type { Webhook } from '#contract/hooks.ts';
import { type ChartingPlatform, chartingPlatform, webhookUrls } from './charting-platform.ts';
import { test as base, expect } from './fixtures.ts';
import type { NewUser } from './operator.ts';
import { dialog, expectToast, loadBelow, tableRow } from './screen.ts';

const TABLE = 'Webhooks of all users';

interface Owner extends NewUser {
  hook: Webhook;
  platform: ChartingPlatform;
  /** A page of a separate browser, signed in. */
  browser: Page;
}

const test = base.extend<{ giveWebhook: (user: NewUser) => Promise<Owner> }>({
  giveWebhook: async ({ openBrowser, signIn, server }, use) => {
    await use(async (user) => {
      const browser = await openBrowser();
      await signIn(browser, user);
      const answer = await browser.request.post('/api/hooks', { data: { name: 'My alerts' } });
      const hook = (await answer.json()) as Webhook;
      return { ...user, hook, platform: chartingPlatform(webhookUrls(server.url, hook.hookKey)), browser };
    });
  },
});

const section = (page: Page) => page.getByRole('region', { name: TABLE });

/** Pages through the list, which is sorted by username, until the user's page. */
async function openPageOf(page: Page, { username }: NewUser) {
  await page.goto('/configuration');
  await loadBelow(page, section(page));
  const next = page.getByRole('button', { name: 'Next', exact: true });
  for (;;) {
    await expect(section(page).getByRole('table')).not.toHaveAttribute('aria-busy', 'true');
    if ((await section(page).getByText(username).count()) > 0) return;
    await next.click();
  }
}

const row = (page: Page, { username }: NewUser) => tableRow(page, TABLE, username);
const button = (page: Page, what: string, { username }: NewUser) =>
  page.getByRole('button', { name: `${what} the webhook of ${username}` });
const send = async (platform: ChartingPlatform) => (await platform.signal({ symbol: 'BTCUSDT' })).status;

test('an administrator suspends and resumes a webhook, and its owner sees why on the webhook screen', async ({
  page,
  operator,
  giveWebhook,
}) => {
  const owner = await giveWebhook(await operator.createUser());
  await openPageOf(page, owner);
  await expect(row(page, owner)).toContainText('Active');
  await expect(row(page, owner)).toContainText('Never');
  await expect(row(page, owner)).toContainText(`${owner.hook.hookKey.slice(0, 4)}…`);
  expect(await send(owner.platform)).toBe(200);
  await expect(row(page, owner)).toContainText(/\d{4}\/\d\d\/\d\d/);

  await button(page, 'Suspend', owner).click();
  const question = dialog(page, 'Suspend Webhook');
  await expect(question).toContainText(`Suspend the webhook "My alerts" of ${owner.username}?`);
  await expect(question).toContainText('It feeds signals for this user only.');
  await question.getByRole('button', { name: 'Suspend' }).click();
  await expectToast(page, { title: 'Webhook Suspended' });
  await expect(row(page, owner)).toContainText('Suspended');
  expect(await send(owner.platform)).toBe(401);

  const other = owner.browser;
  await other.goto('/webhook');
  const notice = other.getByRole('alert').filter({ hasText: 'This webhook is suspended' });
  await expect(notice).toContainText('An administrator suspended it on');
  await expect(other.getByRole('button', { name: 'Delete' })).toBeDisabled();
  await expect(tableRow(other, 'Recent deliveries', 'The webhook is suspended')).toContainText('Refused');

  await button(page, 'Resume', owner).click();
  await dialog(page, 'Resume Webhook').getByRole('button', { name: 'Resume' }).click();
  await expectToast(page, { title: 'Webhook Resumed' });
  await expect(row(page, owner)).toContainText('Active');
  expect(await send(owner.platform)).toBe(200);
  await other.reload();
  await expect(other.getByRole('main').getByText('Active', { exact: true })).toBeVisible();
  await expect(notice).toBeHidden();
});

test('renewing a key does not show it to the administrator, and a wrong password changes nothing', async ({
  page,
  operator,
  server,
  giveWebhook,
  expectFailure,
}) => {
  const owner = await giveWebhook(await operator.createUser());
  await openPageOf(page, owner);
  await button(page, 'Renew the key of', owner).click();
  const form = dialog(page, 'Renew the Key of a User');
  await expect(form).toContainText('The new key is not shown here');
  await expect(form).toContainText(`${owner.username} reads it on the Webhook screen`);
  expectFailure({ path: '/api/admin/hooks/', status: 403 });
  await form.getByLabel('Password', { exact: true }).fill('not the password');
  await form.getByRole('button', { name: 'Renew Key' }).click();
  await expectToast(page, { title: 'Error', text: 'Invalid password' });
  expect(await send(owner.platform)).toBe(200);
  await form.getByLabel('Password', { exact: true }).fill(server.adminPassword);
  await form.getByRole('button', { name: 'Renew Key' }).click();
  await expectToast(page, {
    title: 'Webhook Renewed',
    text: 'Its owner reads the new key on the Webhook screen.',
  });
  expect(await send(owner.platform)).toBe(401);
  await expect(row(page, owner)).toContainText(/[\w-]{4}…/);
  await expect(row(page, owner)).not.toContainText(/[\w-]{43}/);
});

test('the deactivation dialog names the webhook and its recipients, and the list shows the owner as inactive', async ({
  page,
  operator,
  giveWebhook,
  scan,
}) => {
  const owner = await giveWebhook(await operator.createUser());
  const admin = await giveWebhook(await operator.createUser({ isAdmin: true }));
  const without = await operator.createUser();
  expect(await send(admin.platform)).toBe(200);
  for (const [user, ...texts] of [
    [
      owner,
      'The webhook "My alerts" is suspended with the user',
      'signals for this user only',
      'not received',
    ],
    [admin, 'signals for every eligible user', /It last received something on \d{4}\/\d\d\/\d\d/],
    [without, 'This user has no webhook.'],
  ] as const) {
    await page.goto(`/create-client?search=${user.username}&includeInactive=true`);
    await page.getByRole('switch', { name: `Status of ${user.username}` }).click();
    for (const text of texts) await expect(dialog(page, 'Deactivate User')).toContainText(text);
    await page.getByRole('button', { name: 'Deactivate User' }).click();
    await expect(page.getByRole('switch', { name: `Status of ${user.username}: Inactive` })).toBeVisible();
  }
  expect(await send(owner.platform)).toBe(401);
  await openPageOf(page, owner);
  await expect(row(page, owner)).toContainText('Owner inactive');
  await scan('the webhooks of all users');

  await operator.setActive(owner.id, true);
  await expect(row(page, owner)).toContainText('Active');
  expect(await send(owner.platform)).toBe(200);

  await button(page, 'Suspend', owner).click();
  await page.getByRole('button', { name: 'Suspend', exact: true }).click();
  await expect(row(page, owner)).toContainText('Suspended');
  await operator.setActive(owner.id, false);
  await page.goto(`/create-client?search=${owner.username}&includeInactive=true`);
  await page.getByRole('switch', { name: `Status of ${owner.username}` }).click();
  await expect(dialog(page, 'Activate User')).toContainText('stays suspended');
  await page.goto(`/settings?userId=${owner.id}`);
  await page.getByRole('button', { name: 'Reactivate' }).click();
  await expect(dialog(page, 'Reactivate User')).toContainText('stays suspended');
});
