import type { Page } from '@playwright/test';
import { DEVELOPMENT, expect, test } from './fixtures.ts';
import type { Operator } from './operator.ts';
import { dialog, tableRows } from './screen.ts';
import { uniqueName, uniqueToken } from './unique.ts';

test.use({ serverEnv: { ...DEVELOPMENT, WEBHOOK_RATE_LIMIT: '0' } });

const columnsButton = (page: Page) => page.getByRole('button', { name: /^Columns/ });
const headings = (page: Page) => page.getByRole('columnheader').allTextContents();

async function postSignals(operator: Operator, count: number) {
  const [token, processor] = [uniqueToken(), uniqueName('robot')];
  const platform = await operator.platform();
  await Promise.all(
    Array.from({ length: count }, () => platform.signal({ symbol: `${token}USDT`, processor })),
  );
  return { token, processor };
}

// Requirements: additions-finding-keys-and-columns-4
test('the slash goes to the first filter of the screen, and is a letter where one types', async ({
  page,
  signIn,
}) => {
  await signIn(page);
  for (const [path, label] of [
    ['/signals', 'Token'],
    ['/price-logs', 'Token'],
    ['/automation-workflows', 'Processor'],
  ] as const) {
    await page.goto(path);
    await expect(page.getByLabel(label)).toBeVisible();
    await page.keyboard.press('/');
    await expect(page.getByLabel(label)).toBeFocused();
  }

  await page.goto('/create-client');
  const search = page.getByRole('main').getByRole('textbox').first();
  await search.pressSequentially('a/b?');
  await expect(search).toHaveValue('a/b?');
  await page.goto('/create-client?dialog=create');
  await dialog(page, 'Create New User').getByLabel('First Name').press('/');
  await expect(dialog(page, 'Create New User').getByLabel('First Name')).toHaveValue('/');
});

// Requirements: additions-finding-keys-and-columns-4
test('the arrow keys turn the pages of a table', async ({ page, operator, signIn }) => {
  const { token } = await postSignals(operator, 101);
  await signIn(page);
  await page.goto(`/signals?token=${token}`);
  const pager = page.getByRole('navigation', { name: 'Pagination' });
  await expect(pager).toContainText('Page 1 of 2');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowRight');
  await expect(pager).toContainText('Page 2 of 2');
  await expect(tableRows(page, 'Signal History')).toHaveCount(1);
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowLeft');
  await expect(pager).toContainText('Page 1 of 2');
  await expect(page).not.toHaveURL(/page=/);
});

// Requirements: additions-finding-keys-and-columns-4
test('the arrow keys stay with a filter, a menu, a dialog and a table that is scrolled', async ({
  page,
  operator,
  signIn,
}) => {
  const { token } = await postSignals(operator, 101);
  await signIn(page);
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

  // Where the table fits, the arrows have nothing else to do.
  await page.setViewportSize({ width: 1600, height: 900 });
  await region.focus();
  await page.keyboard.press('ArrowRight');
  await expect(pager).toContainText('Page 2 of 2');
});

test('the question mark lists the keys, and those without Ctrl can be switched off', async ({
  page,
  signIn,
}) => {
  await signIn(page);
  await page.goto('/signals');
  await expect(page.getByLabel('Token')).toBeVisible();
  await page.keyboard.press('?');
  const help = dialog(page, 'Keyboard Shortcuts');
  for (const text of [
    'Go to the first filter',
    'Previous and next page',
    'Show this list',
    'Close a dialog',
  ]) {
    await expect(help).toContainText(text);
  }
  await page.keyboard.press('/');
  await expect(help).toBeVisible();
  await help.getByRole('switch', { name: 'Single-key shortcuts' }).click();
  await page.keyboard.press('Escape');
  await expect(help).toBeHidden();

  await page.reload();
  await expect(page.getByLabel('Token')).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByLabel('Token')).not.toBeFocused();
  await page.keyboard.press('?');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog', { name: 'Search and go to' })).toBeVisible();
  await page.keyboard.type('keyboard');
  await page.keyboard.press('Enter');
  await expect(help).toBeVisible();
  await help.getByRole('switch', { name: 'Single-key shortcuts' }).click();
  await page.keyboard.press('Escape');
  await expect(help).toBeHidden();
  await page.keyboard.press('/');
  await expect(page.getByLabel('Token')).toBeFocused();
});

// Requirements: additions-finding-keys-and-columns-5
test('columns are hidden by keyboard, stay hidden, and come back together', async ({
  page,
  operator,
  signIn,
}) => {
  const { token, processor } = await postSignals(operator, 1);
  await signIn(page);
  await page.goto(`/signals?token=${token}`);
  await expect(tableRows(page, 'Signal History')).toHaveCount(1);
  const all = await headings(page);
  expect(all).toHaveLength(14);

  await columnsButton(page).press('Enter');
  const menu = page.getByRole('menu', { name: 'Columns' });
  await expect(menu.getByRole('menuitemcheckbox', { name: 'ID', exact: true })).toBeDisabled();
  await expect(menu.getByRole('menuitemcheckbox', { name: 'Token' })).toBeFocused();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await expect(menu.getByRole('menuitemcheckbox', { name: 'Price' })).not.toBeChecked();
  await page.keyboard.press('Escape');
  await expect(menu).toBeHidden();
  await expect(columnsButton(page)).toBeFocused();
  const fewer = all.filter((name) => name !== 'Token' && name !== 'Price');
  expect(await headings(page)).toEqual(fewer);
  await expect(tableRows(page, 'Signal History').getByRole('cell')).toHaveCount(12);

  await page.reload();
  await expect(tableRows(page, 'Signal History')).toHaveCount(1);
  expect(await headings(page)).toEqual(fewer);
  await expect(columnsButton(page)).toContainText('2 hidden');

  // Each table remembers its own.
  await page.goto(`/automation-workflows?processor=${processor}`);
  await expect(tableRows(page, 'Workflow Runs')).toHaveCount(1);
  await expect(page.getByRole('columnheader', { name: 'Token' })).toBeVisible();
  await columnsButton(page).click();
  await page.getByRole('menuitemcheckbox', { name: 'Trigger' }).click();
  await expect(page.getByRole('columnheader', { name: 'Trigger' })).toHaveCount(0);

  await page.goto(`/signals?token=${token}`);
  await columnsButton(page).click();
  await page.getByRole('menuitem', { name: 'Show all' }).click();
  expect(await headings(page)).toEqual(all);
  await page.reload();
  await expect(tableRows(page, 'Signal History')).toHaveCount(1);
  expect(await headings(page)).toEqual(all);
});

test('what a browser remembers wrongly about columns is ignored', async ({ page, signIn }) => {
  await signIn(page);
  await page.addInitScript(() => window.localStorage.setItem('hidden-columns:price-logs', '{"id":true}'));
  await page.goto('/price-logs');
  await expect(page.getByRole('columnheader')).toHaveCount(11);
  await page.addInitScript(() => window.localStorage.setItem('hidden-columns:price-logs', '["id","hash"]'));
  await page.goto('/price-logs');
  await expect(page.getByRole('columnheader', { name: 'Hash Value' })).toHaveCount(0);
  await expect(page.getByRole('columnheader', { name: 'ID', exact: true })).toBeVisible();
  await expect(page.getByRole('columnheader')).toHaveCount(10);
});

test('a refresh button keeps the focus while it fetches, and takes no second press meanwhile', async ({
  page,
  signIn,
}) => {
  await signIn(page);
  await page.goto('/price-logs');
  const refresh = page.getByRole('button', { name: 'Refresh', exact: true });
  await expect(refresh).toBeEnabled();
  let asked = 0;
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route('**/api/price-logs?*', async (route) => {
    asked += 1;
    await held;
    await route.continue();
  });
  await refresh.press('Enter');
  await expect(refresh).toBeDisabled();
  await expect(refresh).toBeFocused();
  await refresh.press('Enter');
  answer();
  await expect(refresh).toBeEnabled();
  await expect(refresh).toBeFocused();
  expect(asked).toBe(1);
});
