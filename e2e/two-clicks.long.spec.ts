import type { Locator, Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { dialog, pageTitle, tableRow } from './screen.ts';
import { uniqueName } from './unique.ts';

const MOST_CLICKS = 2;
/** Where the operator may be: a list, a form, a system page. */
const ANYWHERE = ['/', '/configuration', '/position-maker', '/audit'];

/** Clicks one after the other; more than two fail. */
async function inTwoClicks(...clicks: Locator[]): Promise<void> {
  expect(clicks.length).toBeLessThanOrEqual(MOST_CLICKS);
  for (const click of clicks) await click.click();
}

const navigation = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });

test.describe('from any page, with at most two clicks', () => {
  test('an operator learns what is wrong, the outcome of the last signal, why a user did not trade it, and closes half', async ({
    page,
    operator,
    server,
  }) => {
    test.setTimeout(180_000);
    const processor = uniqueName('robot');
    const settings = {
      positionSizingMethod: 'Portfolio Allocation',
      investmentPortion: '0.1',
      maximumRiskPerTrade: '0.15',
      signalProcessor: processor,
    } as const;
    const trader = await operator.createUser({ settings, activeTrading: true });
    const other = await operator.createUser({ settings });
    const platform = await operator.platform();
    await platform.candle({ Symbol: 'SOLUSDT', Close: '150', ATR: '2' });
    const signal = await operator.postSignal({ symbol: 'SOLUSDT', price: '150', processor });
    expect(signal.successfulTrades).toBe(1);
    await fetch(`${server.url}/healthz`, { headers: { 'x-forwarded-for': '203.0.113.1' } });

    for (const path of ANYWHERE) {
      const from = async () => {
        await page.goto(path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      };
      await from();
      await inTwoClicks(page.getByRole('button', { name: /^Notifications, [1-9]\d* needs? attention/ }));
      await expect(page.getByRole('list', { name: 'Needs attention' })).toContainText('set TRUST_PROXY');

      await from();
      await inTwoClicks(navigation(page, 'Signals'));
      await expect(pageTitle(page, 'Trading Signals')).toBeVisible();
      await expect(
        page.getByRole('table', { name: 'Signal History' }).locator('tbody tr').first(),
      ).toContainText('Filled 1/1');

      await from();
      await inTwoClicks(
        navigation(page, 'Users'),
        page.getByRole('button', { name: `Decisions on ${other.username}` }),
      );
      await expect(dialog(page, `Decisions - ${other.username}`)).toContainText(/active trading/i);

      await from();
      await inTwoClicks(
        navigation(page, 'Positions'),
        tableRow(page, 'Open Positions', trader.username).getByRole('button', { name: /^Close 50 %/ }),
      );
      await expect(dialog(page, 'Close Position - SOL')).toContainText(trader.username);
      await expect(
        dialog(page, 'Close Position - SOL').getByRole('button', { name: 'Close 50 %' }),
      ).toBeEnabled();
    }
    // What moves money asks once more.
    await dialog(page, 'Close Position - SOL').getByRole('button', { name: 'Close 50 %' }).click();
    await expect(page.locator('.mantine-Notification-root')).toContainText('Part Closed');
  });
});
