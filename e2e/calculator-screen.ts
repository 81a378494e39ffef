import { expect, type Locator, type Page } from '@playwright/test';
import { endWaits } from './database.ts';
import { type ExchangeSite, newSiteCredentials } from './exchange-site.ts';
import type { ManagedServer } from './managed-server.ts';
import type { NewUser, Operator } from './operator.ts';
import { dialog } from './screen.ts';

export const card = (page: Page, title: string): Locator =>
  page.locator('section').filter({ has: page.getByRole('heading', { level: 2, name: title, exact: true }) });

/** The value below a label. */
export const fact = (scope: Locator, name: string): Locator =>
  scope
    .locator('dl > div')
    .filter({
      has: scope.page().locator('dt', { hasText: new RegExp(`^${name.replaceAll(/[()%]/g, '\\$&')}$`) }),
    })
    .locator('dd');

export const confirmation = (page: Page): Locator => dialog(page, 'Position Maker - Order Confirmation');
export const result = (page: Page): Locator => dialog(page, 'Order Submission Result');
export const calculateButton = (page: Page): Locator =>
  card(page, 'Calculation Settings').getByRole('button', { name: /^Calculat/ });
export const submitButton = (page: Page): Locator =>
  page.getByRole('button', { name: 'Submit Order', exact: true });
export const confirmButton = (page: Page): Locator =>
  confirmation(page).getByRole('button', { name: 'Confirm & Submit Order' });

interface CalculatorCase {
  signalId: string;
  user: NewUser;
  path: string;
}

/** A signal with its candle (ATR 300 at 65000, both trends up), and a user who may trade it. */
export async function calculatorCase(
  operator: Operator,
  fields: {
    token?: string;
    price?: string;
    candle?: Record<string, unknown>;
    signal?: Record<string, unknown>;
  } = {},
): Promise<CalculatorCase> {
  const { token = 'BTC', price = '65000', candle, signal } = fields;
  const platform = await operator.platform();
  const posted = await platform.candle({ Symbol: `${token}USDT`, Close: price, ...candle });
  expect(posted.status).toBe(200);
  const { id: signalId } = await operator.postSignal({ symbol: `${token}USDT`, price, ...signal });
  const user = await operator.createUser({ activeTrading: true });
  return { signalId, user, path: `/position-calculator?signalId=${signalId}&userId=${user.id}` };
}

/** Stores a key of the exchange for a user, as an administrator. */
export async function connect(page: Page, userId: string) {
  const answer = await page.request.put(`/api/admin/user-settings/${userId}/exchange-credentials`, {
    data: { exchangePlatform: 'Bitget', ...newSiteCredentials() },
  });
  expect(answer.ok(), await answer.text()).toBe(true);
}

/** Opens a calculation for a user connected to the exchange. Returns the id of its signal. */
export async function openConnected(
  page: Page,
  { operator, exchange }: { operator: Operator; exchange: ExchangeSite },
): Promise<string> {
  await exchange.setPrice('BTC', '65000');
  // No user follows this processor, so the signal's automatic workflow trades for nobody.
  const { path, user, signalId } = await calculatorCase(operator, { signal: { processor: 'Nobody' } });
  await connect(page, user.id);
  await page.goto(path);
  await calculate(page);
  return signalId;
}

/** Confirms the order of the dialog, and ends its wait for a fill. */
export async function confirmOrder(page: Page, server: ManagedServer) {
  await confirmButton(page).click();
  await expect(confirmation(page).getByRole('article', { name: 'First Attempt' })).toContainText(
    'Open, waiting for its fill',
  );
  await endWaits(page, server);
}

/** Calculating stores the settings from now on. */
export const saveWhenCalculating = (page: Page) =>
  page.getByRole('switch', { name: /^Save as .*'s settings$/ }).check();

export async function calculate(page: Page) {
  await calculateButton(page).click();
  await expect(fact(card(page, 'Position Parameters'), 'Entry Price')).toBeVisible();
}

/** Expects the tooltip of a disabled button. Retries, because hovering may scroll the page and close the tooltip. */
export async function expectTip(button: Locator, text: string) {
  const page = button.page();
  await expect(async () => {
    await page.mouse.move(1, 1);
    await button.hover({ force: true });
    await expect(page.getByRole('tooltip')).toHaveText(text, { timeout: 5_000 });
  }).toPass();
}
