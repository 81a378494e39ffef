import { card, confirmation, expectTip, openConnected, submitButton } from './calculator-screen.ts';
import { exchangeTest as test } from './exchange-fixtures.ts';
import { expect } from './fixtures.ts';

const DISABLED = 'Trading operations are disabled in live mode for safety';

// Requirements: trading-calculator-and-execution-14
test('in production an order is calculated and prepared, but both buttons are disabled', async ({
  page,
  operator,
  exchange,
  expectFailure,
}) => {
  await openConnected(page, { operator, exchange });
  await expect(card(page, 'Position Parameters')).toContainText(DISABLED);
  await expect(submitButton(page)).toBeDisabled();
  await expectTip(submitButton(page), DISABLED);
  await expect(page.getByText(/^The order goes to /)).toHaveCount(0);

  await page.goto(`${page.url()}&dialog=order`);
  const order = confirmation(page);
  await expect(order).toContainText(DISABLED);
  const confirm = order.getByRole('button', { name: 'Confirm & Submit Order' });
  await expect(confirm).toBeDisabled();
  await expectTip(confirm, DISABLED);

  expectFailure({ path: '/api/position-maker/submit-order', status: 403 });
  const positionGeneratorLogId = new URL(page.url()).searchParams.get('calculation');
  const answer = await page.request.post('/api/position-maker/submit-order', {
    data: { positionGeneratorLogId, triggerType: 'manual' },
  });
  expect(answer.status()).toBe(403);
  expect(await answer.json()).toMatchObject({ message: DISABLED });
});
