import type { Page } from '@playwright/test';
import { seriousFindingsInBothSchemes } from './axe.ts';
import {
  calculate,
  calculatorCase,
  card,
  confirmation,
  confirmButton,
  result,
  submitButton,
} from './calculator-screen.ts';
import { BY_HAND, expect, test } from './fixtures.ts';
import { closeDialog } from './screen.ts';

// Reduced motion: contrast cannot be measured halfway through a colour transition.
test.use({
  serverEnv: BY_HAND,
  colorScheme: 'light',
  contextOptions: { reducedMotion: 'reduce' },
});

const fits = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth);

// Requirements: additions-everywhere-1, additions-everywhere-3
test('screen, confirmation and result have no serious axe finding and fit a narrow screen', async ({
  page,
  operator,
  signIn,
}) => {
  test.slow();
  const { path, user } = await calculatorCase(operator);
  await signIn(page);
  await page.goto(path);
  const users = card(page, 'Trading User');
  await users.getByRole('button', { name: 'Choose another user' }).click();
  const found = await seriousFindingsInBothSchemes(page, 'the search of users');
  await users.getByLabel('Search users').fill(user.username);
  await users.getByRole('button', { name: user.username }).click();
  await calculate(page);
  await expect(card(page, 'Recent Candles').getByRole('img')).toBeVisible();
  found.push(...(await seriousFindingsInBothSchemes(page, 'the calculator')));
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await fits(page)).toBe(true);

  await submitButton(page).click();
  await expect(confirmation(page)).toContainText('Pre-assessment passed');
  found.push(...(await seriousFindingsInBothSchemes(page, 'the confirmation')));
  expect(await fits(page)).toBe(true);
  await confirmButton(page).click();
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)');
  found.push(...(await seriousFindingsInBothSchemes(page, 'the result')));
  expect(await fits(page)).toBe(true);
  expect(found).toEqual([]);
});

// Requirements: additions-everywhere-3
test('on a phone no toast covers the buttons of the confirmation', async ({ page, operator, signIn }) => {
  const { path } = await calculatorCase(operator);
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page);
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
  signIn,
}) => {
  const { path } = await calculatorCase(operator);
  await signIn(page);
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
  await page.keyboard.press('Enter');
  await expect(result(page)).toContainText('SUCCESS (ORDER FILLED)');
  await closeDialog(page, 'Order Submission Result');
});
