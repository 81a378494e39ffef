import { automaticTest as test } from './exchange-fixtures.ts';
import { expect } from './fixtures.ts';
import { dialog, expectToast } from './screen.ts';

// Requirements: additions-order-and-positions-12
test('a position of a disconnected account is reported as missing and written off after a confirmation', async ({
  page,
  operator,
  exchange,
  trader,
  scan,
}) => {
  await exchange.setPrice('ETH', '3000');
  const platform = await operator.platform();
  expect((await platform.signal({ symbol: 'ETHUSDT', price: '3000' })).status).toBe(200);

  await page.goto(`/positions?userId=${trader.id}`);
  const open = page.getByRole('table', { name: 'Open Positions' });
  await expect(open).toContainText('ETH', { timeout: 20_000 });
  // The key cannot be removed while its order is being followed.
  const disconnect = async () => {
    const answer = await trader.browser.request.delete('/api/user-settings/exchange-credentials', {
      data: { exchangePlatform: 'Bitget' },
    });
    return answer.status();
  };
  await expect.poll(disconnect, { timeout: 20_000 }).toBe(200);

  const notice = page.getByRole('status').filter({ hasText: '1 account could not be read in full.' });
  await expect(notice).toContainText(
    new RegExp(`${trader.username}: ETH: No Bitget credentials are connected`),
    { timeout: 20_000 },
  );
  await scan('a position to write off');
  const button = notice.getByRole('button', { name: /^Write Off: long [\d.]+ ETH$/ });
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(button).toBeInViewport();
  await button.click();
  const question = dialog(page, 'Write Off Position');
  await expect(question).toContainText('Look at the account on Bitget first');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await expect(notice).toBeVisible();
  await button.click();
  await question.getByRole('button', { name: 'Write Off', exact: true }).click();
  await expectToast(page, {
    title: 'Position Written Off',
    text: 'The position in ETH counts as ended',
  });
  await expect(notice).toHaveCount(0);
  await expect(
    page.getByText('Written off: no connected account could show whether it was closed'),
  ).toBeVisible();
});
