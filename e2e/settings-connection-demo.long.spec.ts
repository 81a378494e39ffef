import type { Page } from '@playwright/test';
import { connectOwn, exchangeTest as test } from './exchange-fixtures.ts';
import { newSiteCredentials } from './exchange-site.ts';
import { expect } from './fixtures.ts';
import { expectToast, loadBelow } from './screen.ts';
import { connectionCard, fillCredentials } from './settings-screen.ts';

const save = (page: Page) => connectionCard(page).getByRole('button', { name: 'Save Connection' }).click();

/** The heights of the page from its first card on, without repetitions. */
const watchHeights = (page: Page) =>
  page.addInitScript(() => {
    const heights: number[] = [];
    Object.assign(window, { heights });
    const look = () => {
      const { scrollHeight } = document.documentElement;
      // Until then the page is one loading state, without a button.
      const isShown = document.body?.textContent?.includes('Exchange Connection');
      if (isShown && heights.at(-1) !== scrollHeight) heights.push(scrollHeight);
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });

for (const whose of ['own', "another user's"]) {
  test(`${whose} settings do not get shorter while they load, so that no press misses its button`, async ({
    page,
    operator,
    signIn,
  }) => {
    const user = await operator.createUser();
    await signIn(page, whose === 'own' ? user : undefined);
    await watchHeights(page);
    await page.goto(whose === 'own' ? '/settings' : `/settings?userId=${user.id}`);
    await loadBelow(page, page.getByText('None: positions follow the plan of their strategy'));
    await expect(page.getByText('No limits: entries go as far as the settings allow')).toBeVisible();
    await loadBelow(page, page.getByText(whose === 'own' ? 'No API tokens' : 'Performance fee'));
    await expect(page.getByText('Loading...')).toHaveCount(0);
    const heights = await page.evaluate(() => (window as unknown as { heights: number[] }).heights);
    expect(heights, 'never lower than before').toEqual(heights.toSorted((one, other) => one - other));
  });
}

// Requirements: users-5
test('an accepted key shows the balance immediately and on every test', async ({
  page,
  operator,
  signIn,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  const credentials = newSiteCredentials();
  await fillCredentials(page, credentials);
  await save(page);
  await expectToast(page, {
    title: 'Exchange Connection Saved',
    text: 'The API key for Bitget is stored.',
  });
  const outcome = card.getByRole('alert');
  await expect(outcome).toContainText('Bitget accepted the API key');
  await expect(outcome).toContainText('Futures balance $2,500.50, available $2,500.50 (USDT)');
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await expect(card).toContainText(`API key …${credentials.apiKey.slice(-4)}, entered `);

  await page.reload();
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await expect(outcome).toHaveCount(0);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(outcome).toContainText('Futures balance $2,500.50');
});

// Requirements: users-7
test('a key entered while the exchange is away is stored with a lasting notice', async ({
  page,
  operator,
  signIn,
  exchange,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  exchange.setAway(true);
  await fillCredentials(page, newSiteCredentials());
  await save(page);
  const outcome = card.getByRole('alert');
  await expect(outcome).toContainText('Saved, but not tested');
  await expect(outcome).toContainText('Bitget could not be reached: ');
  await expect(card.getByText('Not verified', { exact: true })).toBeVisible();
  await expect(card).toContainText(
    'Bitget has not yet said what this key may do and to which account it belongs.',
  );
  await page.getByRole('button', { name: 'Close notification' }).click();
  await expect(outcome).toBeVisible();

  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(outcome).toContainText('Not tested');
  exchange.setAway(false);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(outcome).toContainText('Bitget accepted the API key');
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
});

// Requirements: users-17
test('a revoked key is shown as rejected with the exchange’s message until a test succeeds', async ({
  page,
  operator,
  signIn,
  exchange,
}) => {
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  await fillCredentials(page, newSiteCredentials());
  await save(page);
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();

  exchange.setFaults([
    { kind: 'refuse', code: '40037', message: 'Apikey does not exist', on: { times: Infinity } },
  ]);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  const problem = card.getByRole('alert').filter({ hasText: 'Nothing is traded with this key' });
  await expect(problem).toContainText(
    /The Bitget API key is not used since .*: Bitget refused it: Apikey does not exist \(40037\)/,
  );
  await expect(card.getByText('Rejected', { exact: true })).toBeVisible();

  exchange.setFaults([]);
  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(problem).toHaveCount(0);
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
});

// Requirements: users-12
test("a key of another user's account is refused, and only an administrator learns whose it is", async ({
  page,
  user,
  openBrowser,
  signIn,
  trader,
  expectFailure,
}) => {
  expectFailure({ path: '/api/user-settings/exchange-credentials', status: 409 });
  await page.goto('/settings');
  await fillCredentials(page, trader.credentials);
  await save(page);
  const refusal = /This API key belongs to Bitget account .*, which is connected for another user\./;
  await expectToast(page, { title: 'Error', text: refusal });
  const card = connectionCard(page);
  await expect(card.getByRole('alert')).toContainText(refusal);
  await expect(card.getByText('Not connected', { exact: true })).toBeVisible();
  await expect(page.getByText(trader.username)).toHaveCount(0);

  const administrator = await openBrowser();
  expectFailure({ path: '/api/admin/user-settings/', status: 409 });
  await signIn(administrator);
  await administrator.goto(`/settings?userId=${user.id}`);
  await fillCredentials(administrator, trader.credentials);
  await save(administrator);
  await expect(connectionCard(administrator).getByRole('alert')).toContainText(
    `which is connected for ${trader.username}.`,
  );
});

test('a key that turns out to belong to another user’s account shows on the card why it does not trade', async ({
  page,
  openBrowser,
  operator,
  signIn,
  exchange,
}) => {
  const credentials = newSiteCredentials();
  await signIn(page, await operator.createUser());
  await page.goto('/settings');
  const card = connectionCard(page);
  exchange.setAway(true);
  await fillCredentials(page, credentials);
  await save(page);
  await expect(card.getByText('Not verified', { exact: true })).toBeVisible();
  exchange.setAway(false);
  const other = await openBrowser();
  await signIn(other, await operator.createUser());
  await connectOwn(other, credentials);

  await card.getByRole('button', { name: 'Test Connection' }).click();
  await expect(card.getByText('Account in use', { exact: true })).toBeVisible();
  const reason = 'The Bitget account of this API key is connected for another user too, who was first';
  const problem = card.getByRole('alert').filter({ hasText: 'Nothing is traded with this key' });
  await expect(problem).toContainText(reason);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await loadBelow(page, card);
  await expect(problem).toContainText(reason);

  const removed = await other.request.delete('/api/user-settings/exchange-credentials', {});
  expect(removed.status(), await removed.text()).toBe(200);
  await page.reload();
  await loadBelow(page, card);
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await expect(problem).toHaveCount(0);
});
