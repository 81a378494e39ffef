import type { Page } from '@playwright/test';
import { type DatabaseProxy, startDatabaseProxy } from '../test/faults/database-proxy.ts';
import { type FaultPostgres, startFaultPostgres } from '../test/faults/postgres.ts';
import { test as base, expect } from './fixtures.ts';
import { startManagedServer } from './managed-server.ts';
import { expectToast, tableRows } from './screen.ts';
import { uniqueToken } from './unique.ts';

/** The server runs without its database, as while PostgreSQL restarts or the network between them fails. */
interface Away {
  postgres: FaultPostgres;
  proxy: DatabaseProxy;
}

const test = base.extend<object, { away: Away }>({
  away: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads the fixtures that are needed from the pattern
    async ({}, use) => {
      const postgres = await startFaultPostgres();
      const proxy = await startDatabaseProxy(postgres.connection);
      await use({ postgres, proxy });
      await proxy.close();
      await postgres.close();
    },
    { scope: 'worker' },
  ],
  server: [
    async ({ away: { proxy, postgres } }, use) => {
      const server = await startManagedServer({
        DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}/${postgres.connection.database}`,
        SECRET_KEY: 'the secret of this journey, long enough',
        APP_ENV: 'development',
      });
      await use(server);
      await server.remove();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
});

const status = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text });
const failure = (page: Page, title: string) => page.getByRole('alert').filter({ hasText: title });

test.beforeEach(({ expectFailure }) => {
  expectFailure({ path: '/api/', status: 503 });
  expectFailure({ path: '/api/', status: 'network' });
});
test.afterEach(async ({ away: { proxy } }) => {
  await proxy.accept();
});

test('a list reports lost live updates, explains the failure and recovers without a click', async ({
  page,
  away: { proxy },
  operator,
}) => {
  test.setTimeout(300_000);
  const platform = await operator.platform();
  await page.goto('/signals');
  await expect(status(page, 'Live')).toBeVisible();

  await proxy.refuse();
  await expect(status(page, 'Live updates are down')).toBeVisible({ timeout: 20_000 });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await expect(failure(page, 'Failed to fetch signals')).toContainText(
    'The service is not available at the moment',
    { timeout: 20_000 },
  );
  const refused = await platform.signal({ symbol: `${uniqueToken()}USDT` });
  expect(refused.status).toBe(503);

  await proxy.accept();
  const token = uniqueToken();
  await expect(async () => {
    expect((await platform.signal({ symbol: `${token}USDT` })).status).toBe(200);
  }).toPass({ timeout: 20_000 });
  // The list recovers without a click.
  await expect(tableRows(page, 'Signal History').first()).toContainText(token, { timeout: 40_000 });
  await expect(page.getByRole('alert')).toHaveCount(0);
  await expect(status(page, 'Live')).toBeVisible({ timeout: 40_000 });
});

test('a form keeps its input, reports the failed save and saves once the database is back', async ({
  page,
  away: { proxy },
}) => {
  test.setTimeout(300_000);
  await page.goto('/settings');
  const processor = page.getByLabel('Signal processor');
  await expect(processor).toHaveValue('Tesla');

  await proxy.refuse();
  await processor.selectOption('UD Bot');
  const save = page.getByRole('button', { name: 'Save Settings' });
  await save.click();
  await expectToast(page, { title: 'Error', text: 'The service is not available at the moment' });
  await expect(processor).toHaveValue('UD Bot');

  await proxy.accept();
  await expect(async () => {
    await save.click();
    await expectToast(page, { title: 'Settings Updated' });
  }).toPass({ timeout: 30_000 });
  await page.reload();
  await expect(processor).toHaveValue('UD Bot');
});

test('a page opened without the database explains the failure and recovers on its own', async ({
  page,
  away: { proxy },
}) => {
  await proxy.refuse();
  await page.goto('/signals');
  const alert = failure(page, 'Signal Board cannot be reached');
  await expect(alert).toContainText('The service is not available at the moment', { timeout: 20_000 });
  await expect(alert).not.toContainText('503');
  await proxy.accept();
  await expect(tableRows(page, 'Signal History').first()).toBeVisible({ timeout: 30_000 });
});
