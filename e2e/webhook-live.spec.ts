import { expect, test } from './fixtures.ts';
import { dialog } from './screen.ts';
import { createWebhook } from './webhook-screen.ts';

// Nothing of these journeys reaches an exchange: test deliveries are refused.
const NOWHERE = 'http://127.0.0.1:9';
test.use({
  serverEnv: {
    EXCHANGE_MODE: 'live',
    AUTO_TRADE: 'enabled',
    BITGET_BASE_URL: NOWHERE,
    BYBIT_BASE_URL: NOWHERE,
  },
});

test('where real money is traded automatically an administrator is told that test deliveries are refused', async ({
  page,
  signIn,
}) => {
  await signIn(page);
  await page.goto('/configuration');
  await createWebhook(page);
  await page.getByRole('button', { name: 'Send test signal' }).click();
  const signal = dialog(page, 'Send Test Signal');
  await expect(signal).toContainText('Real money is traded automatically at the moment');
  await expect(signal.getByRole('button', { name: 'Send' })).toBeDisabled();
  await signal.getByRole('button', { name: 'Close', exact: true }).click();

  await page.getByRole('button', { name: 'Send test candle' }).click();
  const candle = dialog(page, 'Send Test Candle');
  await expect(candle).toContainText('Real money is traded automatically at the moment');
  await expect(candle.getByRole('button', { name: 'Send' })).toBeDisabled();
});

test('and an ordinary user, who cannot know it before, gets the refusal of the server', async ({
  page,
  signIn,
  operator,
  expectFailure,
}) => {
  expectFailure({ path: '/api/hooks/', status: 403 });
  await signIn(page, await operator.createUser());
  await page.goto('/webhook');
  await createWebhook(page);
  await page.getByRole('button', { name: 'Send test signal' }).click();
  const signal = dialog(page, 'Send Test Signal');
  await signal.getByRole('button', { name: 'Send' }).click();
  await expect(signal.getByRole('alert')).toContainText(
    'Test deliveries are refused while real money is traded automatically',
  );
  await expect(page.getByText('No deliveries yet')).toBeVisible();
});
