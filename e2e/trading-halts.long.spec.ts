import type { Locator, Page } from '@playwright/test';
import { runStatements } from './database.ts';
import { connectOwn, automaticTest as test } from './exchange-fixtures.ts';
import { expect } from './fixtures.ts';
import { dialog, expectToast, pageTitle, tableRow } from './screen.ts';

const always = Number.POSITIVE_INFINITY;
const banner = (page: Page): Locator => page.getByRole('complementary', { name: 'Trading halts' });

test('an unprotected position that cannot be closed halts its user on every screen until an administrator resumes', async ({
  page,
  openBrowser,
  operator,
  signIn,
  exchange,
  server,
}) => {
  const trader = await operator.createUser({
    settings: { positionSizingMethod: 'Risk Management', signalProcessor: 'Halting' },
    activeTrading: true,
  });
  await exchange.setPrice('SOL', '100');
  const own = await openBrowser();
  await signIn(own, trader);
  await connectOwn(own);
  await own.goto('/');
  await page.goto('/create-client');
  await expect(banner(page)).toHaveCount(0);

  exchange.setFaults([
    { kind: 'stopDropped' },
    { kind: 'refuse', code: '40917', message: 'no stop', on: { path: 'place-tpsl-order', times: always } },
    {
      kind: 'refuse',
      code: '40020',
      message: 'no close',
      on: { path: 'place-order', times: always, nth: 2 },
    },
  ]);
  const platform = await operator.platform();
  await platform.signal({ symbol: 'SOLUSDT', price: '100', processor: 'Halting' });

  // Happens automatically ten seconds after the fill was seen.
  await expect(banner(page)).toContainText(`Trading of ${trader.username} is halted since `, {
    timeout: 30_000,
  });
  await expect(banner(page)).toContainText(
    'The SOL position on Bitget has no stop loss and is not closed yet',
  );
  await expect(banner(own)).toContainText('Your trading is halted since ');
  await expect(banner(own).getByRole('link')).toHaveCount(0);
  const row = tableRow(page, 'Users', trader.username);
  await expect(row.getByText('Halted', { exact: true })).toBeVisible();
  const next = await operator.postSignal({ symbol: 'ETHUSDT', price: '3000', processor: 'Halting' });
  const users = await page.request.get(`/api/signals/${next.id}/users`);
  const decisions = (await users.json()) as { username: string; reason: string }[];
  expect(decisions.find(({ username }) => username === trader.username)?.reason).toMatch(
    /^Trading of this user is halted since .*; an administrator has to resume it$/,
  );

  await banner(page).getByRole('link', { name: 'Show halts' }).click();
  await expect(pageTitle(page, 'Positions')).toBeVisible();
  const halt = tableRow(page, 'Trading Halts', trader.username);
  const resume = halt.getByRole('button', { name: `Resume trading of ${trader.username} after SOL` });
  await expect(resume).toBeDisabled();
  await expect(halt).toContainText('No stop');

  // Closing stays refused: an attempt to close may be on its way.
  exchange.setFaults([{ kind: 'closeRefused', on: { times: always } }]);
  await expect(resume).toBeEnabled({ timeout: 15_000 });
  await expect(halt).toContainText('Can be resumed');
  await expect(banner(own)).toContainText('an administrator can resume it.');
  await resume.click();
  const confirm = dialog(page, `Resume Trading - ${trader.username}`);
  await expect(confirm).toContainText('Protection was missing and is placed');
  await confirm.getByRole('button', { name: 'Resume Trading' }).click();
  await expectToast(page, { title: 'Trading Resumed', text: `${trader.username} trades again` });
  await expect(banner(page)).toHaveCount(0);
  await expect(banner(own)).toHaveCount(0);
  await page.getByText('Halts that have ended (1)').click();
  await expect(tableRow(page, 'Ended Trading Halts', trader.username)).toContainText(
    `Resumed by ${server.adminUsername}`,
  );

  await page.goto(`/signals?token=SOL`);
  const [signal] = (
    (await (await page.request.get('/api/signals?token=SOL')).json()) as { signals: { id: string }[] }
  ).signals;
  await page.goto(`/signals?dialog=trades&signal=${signal?.id}`);
  await page.getByText('What happened').click();
  await expect(page.getByRole('list', { name: 'Timeline' })).toContainText('Trading of this user is halted');
});

test('counts several halts and offers no button for one that only waits for the exchange', async ({
  page,
  operator,
  server,
  scan,
}) => {
  const users = [await operator.createUser(), await operator.createUser()];
  const [first, second] = users;
  const add = (userId: string | undefined, token: string, kind: string) => ({
    text: `insert into trading_halts (id, user_id, exchange_platform, token, kind, reason, since)
      values (gen_random_uuid(), $1, 'Bybit', $2, $3, $4, now())`,
    values: [
      userId ?? '',
      token,
      kind,
      `The ${token} position on Bybit has no stop loss and is not closed yet`,
    ],
  });
  await runStatements(server, [
    add(first?.id, 'ONE', 'unprotected'),
    add(first?.id, 'TWO', 'unprotected'),
    add(first?.id, 'THREE', 'unverified'),
    add(second?.id, 'FOUR', 'unprotected'),
    add(second?.id, 'FIVE', 'unprotected'),
  ]);
  await page.goto('/positions');
  await expect(banner(page).getByRole('listitem')).toHaveCount(4);
  await expect(banner(page)).toContainText('2 more halts');
  const unverified = tableRow(page, 'Trading Halts', 'Not verified');
  await expect(unverified).toContainText('THREE');
  await expect(unverified.getByRole('button')).toHaveCount(0);
  await scan('trading halts');
  await runStatements(server, [{ text: 'update trading_halts set ended_at = now()', values: [] }]);
  await expect(banner(page)).toHaveCount(0);
});
