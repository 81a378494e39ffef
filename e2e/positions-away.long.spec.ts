import { connectOwn, exchangeTest as test } from './exchange-fixtures.ts';
import { expect } from './fixtures.ts';
import { pageTitle } from './screen.ts';

// Requirements: additions-order-and-positions-8
test('both screens report an account as missing until its exchange answers again', async ({
  page,
  user,
  signIn,
  exchange,
}) => {
  await connectOwn(page);
  exchange.setAway(true);
  await page.goto('/');
  const own = page.getByText(
    /^Your account could not be read in full, so open positions are missing here: ./,
  );
  await expect(own).toBeVisible();
  await expect(page.getByText('No open positions')).toHaveCount(0);
  exchange.setAway(false);
  await expect(page.getByText('No open positions')).toBeVisible({ timeout: 20_000 });
  await expect(own).toHaveCount(0);

  exchange.setAway(true);
  await signIn(page);
  await page.goto(`/positions?userId=${user.id}`);
  const notice = page.getByRole('status').filter({ hasText: '1 account could not be read in full.' });
  // An answer is cached for two seconds, and the next poll comes after ten.
  await expect(notice).toContainText(`${user.username}: `, { timeout: 20_000 });
  await expect(pageTitle(page, 'Positions')).toBeVisible();
  exchange.setAway(false);
  await expect(notice).toHaveCount(0, { timeout: 20_000 });
});
