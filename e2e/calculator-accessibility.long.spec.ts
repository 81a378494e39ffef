import {
  calculate,
  calculatorCase,
  card,
  confirmation,
  confirmButton,
  confirmOrder,
  result,
  submitButton,
} from './calculator-screen.ts';
import { endWaits } from './database.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import { closeDialog } from './screen.ts';

test.use({ serverEnv: DEVELOPMENT });

// Requirements: additions-everywhere-1, additions-everywhere-3
test('screen, confirmation and result have no serious axe finding and fit a narrow screen', async ({
  page,
  operator,
  server,
  scan,
}) => {
  test.slow();
  const { path, user } = await calculatorCase(operator);
  await page.goto(path);
  const users = card(page, 'Trading User');
  await users.getByRole('button', { name: 'Choose another user' }).click();
  await scan('the search of users');
  await users.getByLabel('Search users').fill(user.username);
  await users.getByRole('button', { name: user.username }).click();
  await calculate(page);
  await expect(card(page, 'Recent Candles').getByRole('img')).toBeVisible();
  await scan('the calculator');
  await submitButton(page).click();
  await expect(confirmation(page)).toContainText('Pre-assessment passed');
  await scan('the confirmation');
  await confirmOrder(page, server);
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)');
  await scan('the result');
});

// Requirements: additions-everywhere-3
test('on a phone no toast covers the buttons of the confirmation', async ({ page, operator }) => {
  const { path } = await calculatorCase(operator);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(path);
  await calculate(page);
  await submitButton(page).click();
  const toast = page.locator('.mantine-Notification-root');
  await toast.hover();
  for (const name of ['Confirm & Submit Order', 'Cancel', 'Check again']) {
    const button = confirmation(page).getByRole('button', { name });
    await expect(button).toBeEnabled();
    await expect(button).toBeInViewport({ ratio: 1 });
    const [over, under] = [await toast.boundingBox(), await button.boundingBox()];
    expect((over?.y ?? 0) + (over?.height ?? 0), name).toBeLessThanOrEqual(under?.y ?? 0);
  }
  await confirmation(page).getByRole('button', { name: 'Check again' }).click({ trial: true });
});

// Requirements: additions-order-and-positions-2
test('an order can be calculated and confirmed with only the keyboard', async ({
  page,
  operator,
  server,
}) => {
  const { path } = await calculatorCase(operator);
  await page.goto(path);
  const calculateByKey = page.getByRole('button', { name: 'Calculate', exact: true });
  await calculateByKey.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/calculation=/);
  await submitButton(page).focus();
  await page.keyboard.press('Enter');
  await expect(confirmButton(page)).toBeEnabled();
  await page.keyboard.press('Escape');
  await expect(confirmation(page)).toBeHidden();
  await expect(submitButton(page)).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(confirmButton(page)).toBeEnabled();
  await page.getByLabel('Custom Entry Price (optional)').focus();
  for (let step = 0; step < 6; step += 1) {
    if (await confirmButton(page).evaluate((button) => button === document.activeElement)) break;
    await page.keyboard.press('Tab');
  }
  // The result is shown when it is known, and again with the answer.
  const answered = page.waitForResponse(/submit-order/);
  await page.keyboard.press('Enter');
  await expect(confirmation(page)).toContainText('Open, waiting for its fill');
  await endWaits(page, server);
  await answered;
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)');
  await closeDialog(page, 'Order Submission Result');
});
