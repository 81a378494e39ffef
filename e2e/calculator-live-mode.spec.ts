import {
  calculate,
  calculatorCase,
  card,
  confirmation,
  expectTip,
  submitButton,
} from './calculator-screen.ts';
import { expect, test } from './fixtures.ts';

const DISABLED = 'Trading operations are disabled in live mode for safety';

test('in production an order is calculated and prepared, and both buttons are blocked', async ({
  page,
  operator,
  signIn,
  server,
  expectFailure,
}) => {
  // The automatic workflow of the signal finds nobody.
  const { path } = await calculatorCase(operator, { signal: { processor: 'Nobody' } });
  await signIn(page);
  await page.goto(path);
  await calculate(page);
  await expect(card(page, 'Position Parameters')).toContainText(DISABLED);
  await expect(submitButton(page)).toBeDisabled();
  await expectTip(submitButton(page), DISABLED);

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
    headers: { origin: server.url },
  });
  expect(answer.status()).toBe(403);
  expect(await answer.json()).toMatchObject({ message: DISABLED });
});
