import type { Page } from '@playwright/test';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

test.use({ serverEnv: DEVELOPMENT });

const columnsButton = (page: Page) => page.getByRole('button', { name: /^Columns/ });

async function postSignals(operator: Operator, count: number) {
  const [token, processor] = [uniqueToken(), uniqueName('robot')];
  const platform = await operator.platform();
  await Promise.all(
    Array.from({ length: count }, () => platform.signal({ symbol: `${token}USDT`, processor })),
  );
  return { token, processor };
}

// Requirements: additions-finding-keys-and-columns-4
test('arrow keys turn pages unless a filter, menu, dialog or scrollable table needs them', async ({
  page,
  operator,
}) => {
  const { token } = await postSignals(operator, 101);
  await page.goto(`/signals?token=${token}`);
  const pager = page.getByRole('navigation', { name: 'Pagination' });
  await expect(pager).toContainText('Page 1 of 2');
  const region = page.getByRole('region', { name: 'Signal History' });

  await page.getByLabel('Action').press('ArrowRight');
  await page.getByLabel('Action').selectOption('');
  await columnsButton(page).click();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Escape');
  await page
    .getByRole('button', { name: /, details of the signal/ })
    .first()
    .click();
  await expect(dialog(page, 'Signal Details')).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(pager).toContainText('Page 1 of 2');

  await page.setViewportSize({ width: 800, height: 800 });
  await region.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => region.evaluate((element) => element.scrollLeft)).toBeGreaterThan(0);
  await expect(pager).toContainText('Page 1 of 2');

  // A table that fits does not scroll, so the arrows turn pages.
  await page.setViewportSize({ width: 1600, height: 900 });
  await region.focus();
  await page.keyboard.press('ArrowRight');
  await expect(pager).toContainText('Page 2 of 2');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  await expect(pager).toContainText('Page 1 of 2');
  await expect(page).not.toHaveURL(/page=/);
});
