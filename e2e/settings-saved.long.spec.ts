import { expect, test } from './fixtures.ts';
import { expectToast } from './screen.ts';

// Requirements: screens-user-settings-5, accounts-fields-5, accounts-validation-8, accounts-messages-10
test('saves and keeps the settings, Auto as no value, with a processor that an administrator set', async ({
  page,
  operator,
  signIn,
}) => {
  const user = await operator.createUser();
  await (await operator.platform()).signal({ symbol: 'BTCUSDT', processor: 'Orion v2.1' });
  await signIn(page, user);
  await page.goto('/settings');
  const chosen = {
    'Position sizing method': 'Portfolio Allocation',
    'Investment portion': '15.0%',
    'Maximum risk per trade': '10.0%',
    'Exchange platform': 'Bybit',
    'Signal processor': 'Orion v2.1',
    'Signal timeframe': '1h',
  };
  const method = page.getByLabel('Position sizing method');
  const save = async () => {
    await page.getByRole('button', { name: 'Save Settings' }).click();
    await expectToast(page, {
      title: 'Settings Updated',
      text: 'Your settings have been saved successfully.',
    });
  };
  for (const [label, option] of Object.entries(chosen)) await page.getByLabel(label).selectOption(option);
  await save();
  await page.reload();
  for (const [label, option] of Object.entries(chosen)) {
    await expect(page.getByLabel(label).locator('option:checked')).toHaveText(option);
  }
  await method.selectOption('Risk Management');
  await save();
  expect(await operator.settingsOf(user.id)).toMatchObject({
    positionSizingMethod: 'Risk Management',
    investmentPortion: null,
    maximumRiskPerTrade: expect.stringMatching(/^0\.10?$/),
  });

  // A reopened form starts from the stored settings.
  await page.getByRole('link', { name: 'Signal Board' }).click();
  await operator.changeSettings(user.id, { positionSizingMethod: 'Technical Analysis' });
  await page.getByRole('link', { name: 'User Settings' }).click();
  await expect(method).toHaveValue('Technical Analysis');
});
