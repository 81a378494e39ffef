import { automaticTest as test } from './exchange-fixtures.ts';
import { expect } from './fixtures.ts';
import { dialog, expectToast } from './screen.ts';

// Requirements: users-19
test('an order left in doubt by a revoked key is shown and written off after a confirmation', async ({
  page,
  operator,
  exchange,
  trader,
}) => {
  await exchange.setPrice('ETH', '3000');
  exchange.setFaults([
    { kind: 'acceptThenTimeout', on: { path: '/place-order' } },
    {
      kind: 'refuse',
      code: '40037',
      message: 'Apikey does not exist',
      on: { path: '/order/detail', times: Infinity },
    },
  ]);
  const platform = await operator.platform();
  expect((await platform.signal({ symbol: 'ETHUSDT', price: '3000' })).status).toBe(200);

  await page.goto('/position-maker');
  const table = page.getByRole('table', { name: 'Orders In Doubt' });
  await expect(table).toContainText(trader.username, { timeout: 20_000 });
  await expect(table).toContainText(
    /The Bitget API key is not used since .*: Bitget refused it: Apikey does not exist \(40037\)/,
  );
  await table.getByRole('button', { name: 'Write Off' }).click();
  const question = dialog(page, 'Write Off Order');
  await expect(question).toContainText('Look at the account on Bitget first');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(table).toBeVisible();
  await table.getByRole('button', { name: 'Write Off' }).click();
  await question.getByRole('button', { name: 'Write Off', exact: true }).click();
  await expectToast(page, {
    title: 'Order Written Off',
    text: `What became of the ETH order of ${trader.username} stays unknown.`,
  });
  await expect(table).toHaveCount(0);
  await expect(page.getByText(/^Outcome unknown, written off by /)).toBeVisible();
});
