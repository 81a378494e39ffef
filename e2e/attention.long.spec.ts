import type { Page } from '@playwright/test';
import type { AttentionCondition } from '#contract/attention.ts';
import { seriousFindings } from './axe.ts';
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

test('a missing proxy setting shows on the dashboard of administrators only', async ({
  page,
  signIn,
  server,
  operator,
}) => {
  const user = await operator.createUser();
  await signIn(page);
  const answered = page.waitForResponse('**/api/attention');
  await page.goto('/');
  await (await answered).finished();
  await expect(page.getByRole('heading', { name: 'My positions' })).toBeVisible();
  await expect(card(page)).toHaveCount(0);

  await fetch(`${server.url}/healthz`, { headers: { 'x-forwarded-for': '203.0.113.1' } });
  await page.reload();
  await expect(entries(page)).toHaveCount(1);
  await expect(entries(page)).toContainText('Warning');
  await expect(entries(page)).toContainText(/since \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d/);
  await expect(entries(page)).toContainText(
    '127.0.0.1 sends X-Forwarded-For, but TRUST_PROXY does not name it: everybody behind it counts as one address. If it is your reverse proxy, set TRUST_PROXY=127.0.0.1 and start again.',
  );
  expect(await seriousFindings(page)).toEqual([]);

  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await signIn(page, user);
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'My positions' })).toBeVisible();
  await expect(card(page)).toHaveCount(0);
  expect(asked).toContain('/api/my-positions');
  expect(asked).not.toContain('/api/attention');
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`lists conditions with severity, start and button, on a phone and in ${colorScheme}`, async ({
    page,
    signIn,
  }) => {
    await page.setViewportSize({ width: 390, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await signIn(page);
    await answer(page, CONDITIONS);
    await page.goto('/');
    await expect(entries(page)).toHaveCount(3);
    await expect(entries(page).nth(0)).toContainText('Critical');
    await expect(entries(page).nth(0)).toContainText('since 2026/03/04 14:06:07');
    await expect(entries(page).nth(1)).not.toContainText('since');
    await expect(entries(page).nth(1).getByRole('link')).toHaveCount(0);
    await expect(entries(page).nth(2)).toContainText('Info');
    await expect(entries(page).nth(2).getByRole('link', { name: 'Open' })).toBeVisible();
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(width).toBeLessThanOrEqual(390);
    expect(await seriousFindings(page)).toEqual([]);

    const button = entries(page).nth(0).getByRole('link', { name: 'Show positions' });
    await button.focus();
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(/\/positions\?exchange=Bitget$/);
    await expect(page.getByRole('heading', { name: 'Positions', level: 1 })).toBeVisible();
  });
}

test('conditions are refetched every 30 seconds, and the card disappears with the last of them', async ({
  page,
  signIn,
}) => {
  await page.clock.install();
  await signIn(page);
  await answer(page, CONDITIONS);
  await page.goto('/');
  await expect(entries(page)).toHaveCount(3);
  await answer(page, []);
  await expect(async () => {
    await page.clock.fastForward(30_000);
    await expect(card(page)).toHaveCount(0, { timeout: 2_000 });
  }).toPass();
});
