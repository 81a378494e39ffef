import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import type { NewUser, Operator } from './operator.ts';
import { dialog, pageTitle, tableRows } from './screen.ts';
import { uniqueName } from './unique.ts';

const USERS = 'Users for Signal';
const NO_ATR = 'ATR is required for Technical Analysis';

interface Story {
  processor: string;
  signal: { id: string; workflowId: string };
  /** Filled; skipped by sizing; trading off; inactive; created after the signal. */
  traded: NewUser;
  unsized: NewUser;
  off: NewUser;
  inactive: NewUser;
  later: NewUser;
}

let told: Promise<Story> | null = null;

/** One signal without ATR for all journeys of this file, and one user for each outcome. */
const story = (operator: Operator): Promise<Story> => {
  told ??= tell(operator);
  return told;
};

async function tell(operator: Operator): Promise<Story> {
  const processor = uniqueName('robot');
  const trader = (positionSizingMethod: 'Portfolio Allocation' | 'Technical Analysis') =>
    operator.createUser({
      settings: { positionSizingMethod, signalProcessor: processor },
      activeTrading: true,
    });
  const traded = await trader('Portfolio Allocation');
  const unsized = await trader('Technical Analysis');
  const inactive = await trader('Portfolio Allocation');
  await operator.setActive(inactive.id, false);
  const off = await operator.createUser({ settings: { signalProcessor: processor } });
  const platform = await operator.platform();
  const candle = await platform.candle({ Symbol: 'PEPEUSDT', Close: '0.00001234', ATR: undefined });
  expect(candle.status).toBe(200);
  const { id, workflowId } = await operator.postSignal({
    symbol: 'PEPEUSDT',
    price: '0.00001234',
    processor,
  });
  const later = await trader('Portfolio Allocation');
  return { processor, signal: { id, workflowId: workflowId ?? '' }, traded, unsized, off, inactive, later };
}

const usersAddress = ({ signal }: Story, more = '') => `/signals?dialog=users&signal=${signal.id}${more}`;
const whyAddress = (from: Story, { id }: NewUser) => usersAddress(from, `&tab=why&user=${id}`);
const part = (page: Page, name: string) => page.getByRole('dialog').getByRole('region', { name });

// Requirements: signals-the-table-12, signals-the-dialogs-11
test('the users cell opens the list, whose tabs are in the URL without adding history entries', async ({
  page,
  operator,
}) => {
  const from = await story(operator);
  await page.goto(`/signals?processor=${from.processor}`);
  const cell = tableRows(page, 'Signal History').getByRole('button', { name: /^1\/2, users of signal/ });
  await cell.click();
  const users = dialog(page, USERS);
  const entry = (user: NewUser) => users.getByRole('listitem').filter({ hasText: user.username });
  await expect(entry(from.traded)).toContainText('Eligible');
  await expect(entry(from.traded)).toContainText('All eligibility criteria met');
  await expect(entry(from.off)).toContainText('Not eligible');
  await expect(entry(from.off)).toContainText('Active trading is off');
  await expect(entry(from.inactive)).toContainText('User is inactive');
  await expect(entry(from.later)).toHaveCount(0);

  await users.getByRole('tab', { name: 'Eligible Users Breakdown' }).click();
  await expect(page).toHaveURL(/dialog=users&signal=[^&]+&tab=breakdown$/);
  await users.getByRole('tab', { name: 'Why / why not' }).click();
  await expect(page).toHaveURL(/&tab=why$/);
  await page.goBack();
  await expect(users).toBeHidden();
  await expect(page).toHaveURL(new RegExp(`/signals\\?processor=${from.processor}$`));

  // Closing goes one step back in history: forward opens the dialog again, back leads to the previous page.
  await cell.click();
  await expect(users).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(users).toBeHidden();
  await page.goForward();
  await expect(users).toBeVisible();
});

// Requirements: workflow-monitor-12, additions-why-and-why-not-4
test('the monitor explains each user of its workflow and any other user', async ({ page, operator }) => {
  const from = await story(operator);
  await page.goto(`/automation-workflows?processor=${from.processor}`);
  await tableRows(page, 'Workflow Runs')
    .getByRole('button', { name: /^2, eligible users of workflow/ })
    .click();
  const users = dialog(page, 'Eligible Users');
  await users.getByRole('button', { name: `Why, ${from.off.username}` }).click();
  await expect(page).toHaveURL(new RegExp(`workflow=${from.signal.workflowId}.*tab=why&user=${from.off.id}`));
  await expect(part(page, 'Conclusion')).toContainText('Active trading is off');
  await page.reload();
  await users.getByRole('button', { name: 'Choose another user' }).click();
  await users.getByLabel('Search users').fill(from.unsized.username);
  await users.getByRole('button', { name: from.unsized.username }).click();
  await expect(part(page, 'Conclusion')).toContainText(NO_ATR);
  await users.getByRole('tab', { name: 'Users', exact: true }).click();
  await expect(users.getByRole('button', { name: `Why, ${from.unsized.username}` })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(users).toBeHidden();
});

// Requirements: signals-the-table-8
test('tooltips and the dialog show the full prices of a cheap token', async ({ page, operator }) => {
  const { processor, signal, traded } = await story(operator);
  await page.goto(`/signals?processor=${processor}`);
  const row = tableRows(page, 'Signal History');
  await row.getByText('$0.00001234').hover();
  await expect(page.getByRole('tooltip')).toHaveText('0.00001234 USDT');
  await row.getByRole('button', { name: /^0\.0000\d+ \/ 0\.0000\d+, SL\/TP calculation/ }).hover();
  await expect(page.getByRole('tooltip')).toHaveText(/^Stop loss 0\.0000\d+\nTake profit 0\.0000\d+$/);
  await page.goto(`/signals?dialog=sltp&signal=${signal.id}`);
  const levels = dialog(page, 'SL/TP Calculation Details')
    .getByRole('article')
    .filter({ hasText: traded.username });
  for (const name of ['Entry Price', 'Stop Loss', 'Take Profit']) {
    const figure = levels.getByText(name, { exact: true }).locator('xpath=following-sibling::dd');
    await expect(figure).toHaveText(/0\.0000\d{2,6}$/);
  }
});

test.describe('every tab', () => {
  const tabs = async (operator: Operator) => {
    const from = await story(operator);
    const ofWorkflow = `/automation-workflows?dialog=users&signal=${from.signal.id}&workflow=${from.signal.workflowId}`;
    return [
      { path: usersAddress(from), text: 'users eligible' },
      { path: usersAddress(from, '&tab=breakdown'), text: 'Active users with settings' },
      { path: usersAddress(from, '&tab=why'), text: 'Search users' },
      { path: whyAddress(from, from.off), text: 'It wanted' },
      { path: whyAddress(from, from.unsized), text: 'After eligibility' },
      { path: ofWorkflow, text: 'users eligible' },
      { path: `${ofWorkflow}&tab=why&user=${from.later.id}`, text: 'Nothing was decided' },
    ];
  };

  // Requirements: additions-everywhere-1, additions-everywhere-3
  test('has no serious axe finding, fits a phone and is reachable by keyboard', async ({
    page,
    operator,
    scan,
  }) => {
    test.setTimeout(300_000);
    for (const { path, text } of await tabs(operator)) {
      await page.goto(path);
      const opened = page.getByRole('dialog');
      await expect(opened).toContainText(text);
      await scan(path, opened);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const from = await story(operator);
    await page.goto(usersAddress(from));
    await expect(page.getByRole('dialog')).toContainText('users eligible');
    const heights = await page
      .getByRole('tab')
      .evaluateAll((tabs) => new Set(tabs.map((tab) => tab.getBoundingClientRect().top)).size);
    expect(heights, 'the tabs stand in one row').toBe(1);
    // A name stays on one line; the text beside it wraps below where there is no room.
    const names = page.getByRole('dialog').getByRole('listitem').locator('strong');
    const lines = await names.evaluateAll((all) => all.map((name) => name.getClientRects().length));
    expect(Math.max(...lines)).toBe(1);
    await page.getByRole('tab', { name: 'Users', exact: true }).focus();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('list', { name: 'Filtration layers' })).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByRole('tab', { name: 'Execution' })).toBeFocused();
    await page.keyboard.press('ArrowRight');
    await expect(page.getByLabel('Search users')).toBeVisible();
    await page.keyboard.press('Tab');
    await page.keyboard.type(from.off.username);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect(part(page, 'Conclusion')).toContainText('Active trading is off');
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toBeHidden();
    await expect(pageTitle(page, 'Trading Signals')).toBeVisible();
  });
});
