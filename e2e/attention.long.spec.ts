import type { Page } from '@playwright/test';
import type { AttentionCondition } from '#contract/attention.ts';
import { expect, TOKYO, test } from './fixtures.ts';

test.use({ serverEnv: TOKYO });

const card = (page: Page) =>
  page.locator('section', { has: page.getByRole('heading', { name: 'Needs attention' }) });
const entries = (page: Page) => card(page).getByRole('listitem');

/** Answers with made-up conditions: only their display is tested here. */
async function answer(page: Page, conditions: AttentionCondition[]) {
  await page.route('**/api/attention', (route) => route.fulfill({ json: { conditions } }));
}

const CONDITIONS: AttentionCondition[] = [
  {
    code: 'first',
    severity: 'critical',
    since: '2026-03-04T05:06:07.000Z',
    text: 'The position of ann@example.com in BTCUSDT has had no stop loss for three minutes.',
    link: '/positions?exchange=Bitget',
    action: 'Show positions',
  },
  {
    code: 'second',
    severity: 'critical',
    since: null,
    text: `A word without an end: ${'x'.repeat(120)}`,
    link: null,
    action: null,
  },
  {
    code: 'third',
    severity: 'info',
    since: null,
    text: 'Nothing urgent.',
    link: '/create-client',
    action: null,
  },
];

test('a missing proxy setting shows on the dashboard', async ({ page, server }) => {
  const answered = page.waitForResponse('**/api/attention');
  await page.goto('/');
  await (await answered).finished();
  await expect(page.getByRole('heading', { name: 'Five steps to the first fill' })).toBeVisible();
  await expect(card(page)).toHaveCount(0);

  await fetch(`${server.url}/healthz`, { headers: { 'x-forwarded-for': '203.0.113.1' } });
  await page.reload();
  await expect(entries(page)).toHaveCount(1);
  await expect(entries(page)).toContainText('Warning');
  await expect(entries(page)).toContainText(/since \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d/);
  await expect(entries(page)).toContainText(
    '127.0.0.1 sends X-Forwarded-For, but TRUST_PROXY does not name it: everybody behind it counts as one address. If it is your reverse proxy, set TRUST_PROXY=127.0.0.1 and start again.',
  );
});

test('conditions of any length are readable in both schemes and on a phone', async ({ page, scan }) => {
  await answer(page, CONDITIONS);
  await page.goto('/');
  await expect(entries(page)).toHaveCount(3);
  await scan('what needs attention');
});

test('conditions are refetched every 30 seconds, and the card disappears with the last of them', async ({
  page,
}) => {
  await page.clock.install();
  await answer(page, CONDITIONS);
  await page.goto('/');
  await expect(entries(page)).toHaveCount(3);
  await answer(page, []);
  await expect(async () => {
    await page.clock.fastForward(30_000);
    await expect(card(page)).toHaveCount(0, { timeout: 2_000 });
  }).toPass();
});
