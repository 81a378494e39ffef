import {
  calculate,
  calculatorCase,
  card,
  confirmation,
  confirmButton,
  result,
  submitButton,
} from './calculator-screen.ts';
import { expect, test } from './fixtures.ts';
import { uniqueToken } from './unique.ts';

test.use({ serverEnv: { DEPLOYMENT_ID: 'deployment-1' } });

// Requirements: signals-the-table-14, trading-roles-2
test('a production deployment blocks manual triggers, and the buttons say why', async ({
  page,
  operator,
  server,
}) => {
  const signal = await operator.postSignal({ symbol: `${uniqueToken()}USDT` });
  await page.goto(`/signals?token=${signal.token}`);
  const trigger = page.getByRole('button', { name: /^Trigger the workflow of signal/ });
  await expect(trigger).toBeDisabled();
  await trigger.locator('..').hover();
  await expect(page.getByRole('tooltip')).toHaveText('Manual triggers disabled in production');

  // The API refuses too, not just the button.
  for (const { path, data } of [
    { path: '/api/trigger-automation', data: { signalId: signal.id } },
    { path: `/api/automation/trigger/${signal.id}`, data: {} },
  ]) {
    const answer = await page.request.post(`${server.url}${path}`, { data });
    expect([answer.status(), await answer.json()]).toEqual([
      403,
      { message: 'Manual triggers disabled in production' },
    ]);
  }
});

// Requirements: trading-calculator-and-execution-15
test('a production deployment in paper mode accepts a manual order', async ({ page, operator }) => {
  const token = uniqueToken();
  // No user follows this processor, so the signal's automatic workflow trades for nobody.
  const { path } = await calculatorCase(operator, { token, signal: { processor: 'Nobody' } });
  await page.goto(path);
  await calculate(page);
  const target = 'The order goes to the paper exchange. No real money is traded.';
  await expect(card(page, 'Position Parameters')).toContainText(target);
  await expect(page.getByText('Trading operations are disabled')).toHaveCount(0);
  await submitButton(page).click();
  await expect(confirmation(page)).toContainText(target);
  await confirmButton(page).click();
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)', { timeout: 20_000 });
  const { signals } = await (await page.request.get(`/api/signals?token=${token}`)).json();
  expect(signals).toMatchObject([{ totalTrades: 1, successfulTrades: 1 }]);
});
