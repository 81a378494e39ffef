import { calculate, calculatorCase, card, fact, saveWhenCalculating } from './calculator-screen.ts';
import { DEVELOPMENT, expect, test } from './fixtures.ts';

test.use({ serverEnv: DEVELOPMENT });

// Requirements: calculator-screen-and-cards-6, trading-calls-19, trading-messages-18
test('shows an API error after three failed balance calls, and retries on demand', async ({
  page,
  operator,
  expectFailure,
}) => {
  const path = '/api/admin/account-balance/';
  expectFailure({ path, status: 'network' });
  const subject = await calculatorCase(operator);
  let calls = 0;
  await page.route(`**${path}**`, (route) => {
    calls += 1;
    return route.abort();
  });
  await page.goto(subject.path);
  const balance = card(page, 'Account Balance');
  await expect(balance).toContainText('Loading account balance...');
  const failed = balance.getByRole('alert');
  await expect(failed).toContainText('Balance API Error');
  await expect(failed).toContainText('Please check API connection');
  // One call and two retries.
  expect(calls).toBe(3);
  await page.unroute(`**${path}**`);
  await balance.getByRole('button', { name: 'Refresh balance' }).click();
  await expect(fact(balance, 'Available')).toHaveText('$10,000.00');
});

// Requirements: trading-roles-3, trading-calls-18
test("a calculation for the signed-in user uses that user's settings and saves the five fields first", async ({
  page,
  operator,
}) => {
  const { signalId } = await calculatorCase(operator);
  const writes: { path: string; body: Record<string, unknown> }[] = [];
  page.on('request', (request) => {
    const path = new URL(request.url()).pathname;
    const isRead = request.method() === 'GET' || path.endsWith('/preview');
    if (!isRead) writes.push({ path, body: request.postDataJSON() });
  });
  await page.goto(`/position-calculator?signalId=${signalId}`);
  await page.getByLabel('Position Sizing Method').selectOption('Portfolio Allocation');
  await page.getByLabel('Investment Portion').selectOption({ label: '5.0%' });
  await saveWhenCalculating(page);
  await calculate(page);
  const [saved, generated, ...more] = writes;
  expect(more).toEqual([]);
  expect(saved).toEqual({
    path: '/api/user-settings',
    body: {
      calculationBehavior: 'Futures_Limit_Classic',
      marketType: 'Futures',
      positionSizingMethod: 'Portfolio Allocation',
      investmentPortion: expect.stringMatching(/^0\.050?$/),
      maximumRiskPerTrade: expect.stringMatching(/^0\.\d+$/),
      updatedAt: expect.any(String),
    },
  });
  const { user } = await (await page.request.get('/api/auth/user')).json();
  expect(generated).toMatchObject({
    path: '/api/internal/position-generator/generate',
    body: { signalId, priceLogId: expect.any(String), userId: user.id },
  });
});
