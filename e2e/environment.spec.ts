import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog } from './screen.ts';
import { uniqueToken } from './unique.ts';

const INSTANCE_ID = 'the-instance-with-a-very-long-name';

// Settings of its own: the server that these journeys leave behind is nobody else's.
test.use({ serverEnv: { INSTANCE_ID } });

const LOOKS = [
  {
    name: 'production with automatic trading',
    env: {},
    badge: 'Live Trading',
    facts: {
      Environment: 'PRODUCTION',
      Deployment: 'LOCAL',
      'Auto-Trade': 'ENABLED',
      'Auto-Trade Config': 'CONFIGURED',
      'Signal Processing': 'ACTIVE',
      'Server Instance ID': 'the-instance-with-a-...',
      'Has Deployment ID': 'NO',
    },
    banner: 'Live Trading Active',
    text: 'The system is processing signals automatically. All safety checks passed.',
  },
  {
    name: 'a production deployment without automatic trading',
    env: { AUTO_TRADE: 'disabled', DEPLOYMENT_ID: 'deployment-number-twenty-five' },
    badge: 'PROD (Manual)',
    facts: {
      Environment: 'PRODUCTION',
      Deployment: 'DEPLOYED',
      'Auto-Trade': 'DISABLED',
      'Auto-Trade Config': 'CONFIGURED',
      'Deployment ID': 'deployment-number-tw...',
      'Has Deployment ID': 'YES',
    },
    banner: 'Production Mode - Manual Only',
    text: 'Production environment detected, but auto-trading is disabled in configuration.',
  },
  {
    name: 'development',
    env: { APP_ENV: 'development' },
    badge: 'Dev Mode',
    facts: { Environment: 'DEVELOPMENT', 'Auto-Trade': 'DISABLED' },
    banner: 'Development Mode',
    text: 'Auto-trading is disabled. Only manual triggers work, which prevents conflicts with production systems.',
  },
  {
    name: 'an environment of another name',
    env: { APP_ENV: 'staging' },
    badge: 'UNKNOWN',
    facts: { Environment: 'UNKNOWN', 'Auto-Trade': 'DISABLED' },
    banner: 'Unknown Environment',
    text: 'Auto-trading is disabled.',
  },
];

test('the badge and its dialog show which environment this is', async ({ page, signIn, server }) => {
  const colours = new Set<string>();
  for (const { name, env, badge: label, facts, banner, text } of LOOKS) {
    await test.step(name, async () => {
      await page.goto('about:blank');
      await server.stop();
      await server.start(env);
      await signIn(page);
      await page.goto('/');
      const badge = page.getByRole('banner').getByRole('button', { name: label });
      await expect(badge).toBeVisible();
      const dot = badge.locator('span').first();
      colours.add(await dot.evaluate((element) => getComputedStyle(element).backgroundColor));
      await badge.hover();
      const tip = page.getByRole('tooltip');
      await expect(tip).toContainText(`Environment: ${facts.Environment}`);
      await expect(tip).toContainText(`Auto-Trade: ${facts['Auto-Trade']}`);
      await expect(tip).toContainText('Click for detailed information');

      await badge.click();
      const details = dialog(page, 'System Environment Details');
      for (const [fact, value] of Object.entries(facts)) {
        await expect(
          details.getByText(fact, { exact: true }).locator('xpath=following-sibling::dd'),
        ).toHaveText(value);
      }
      await expect(details.getByRole('alert')).toContainText(banner);
      await expect(details.getByRole('alert')).toContainText(text);
      await expect(details).toContainText(/Last updated: \d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d/);
      await expect(details).toContainText('Auto-refreshes every 30 seconds');
    });
  }
  expect(colours.size, 'each environment has a colour of its own').toBe(LOOKS.length);
});

test('in a production deployment nobody triggers or retries by hand, the server included', async ({
  page,
  signIn,
  server,
  operator,
}) => {
  await server.stop();
  await server.start();
  const symbol = `${uniqueToken()}USDT`;
  const signal = await operator.postSignal({ symbol, price: '100' });
  await (await operator.platform()).candle({ Symbol: symbol, Close: '120' });
  expect((await operator.trigger(signal.id)).workflowStatus).toBe('failed');
  await server.stop();
  await server.start({ DEPLOYMENT_ID: 'production-1' });

  await signIn(page);
  await page.goto(`/signals?token=${signal.token}`);
  await expectDisabled(page, /^Trigger the workflow of signal/);
  await page.goto('/automation-workflows?status=failed');
  await expectDisabled(page, /^Retry workflow/);

  const headers = { origin: server.url };
  const trigger = await page.request.post('/api/trigger-automation', {
    headers,
    data: { signalId: signal.id },
  });
  const retry = await page.request.post(`/api/automation/trigger/${signal.id}`, { headers });
  for (const answer of [trigger, retry]) {
    expect(answer.status()).toBe(403);
    expect(await answer.json()).toEqual({ message: 'Manual triggers disabled in production' });
  }
});

async function expectDisabled(page: Page, name: RegExp) {
  const button = page.getByRole('button', { name });
  await expect(button).toBeDisabled();
  await button.locator('xpath=..').hover();
  await expect(page.getByRole('tooltip')).toHaveText('Manual triggers disabled in production');
}
