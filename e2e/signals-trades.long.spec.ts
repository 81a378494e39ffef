import { runStatements } from './database.ts';
import { expect, test } from './fixtures.ts';
import { dialog, tableRows } from './screen.ts';
import { uniqueName } from './unique.ts';

// Requirements: signals-the-table-11, signals-the-dialogs-9, signals-the-dialogs-10, workflow-monitor-14
// Requirements: workflow-monitor-15, trading-workflows-and-eligibility-6, trading-messages-20
test('counts trades and groups failed ones by reason with the affected users', async ({
  page,
  operator,
  server,
}) => {
  const processor = uniqueName('robot');
  const settings = { positionSizingMethod: 'Portfolio Allocation', signalProcessor: processor } as const;
  const create = () => operator.createUser({ settings, activeTrading: true });
  const [filled, ann, bob, nameless, waiting] = [
    await create(),
    await create(),
    await create(),
    await create(),
    await create(),
  ];
  await (await operator.platform()).candle({ Symbol: 'ETHUSDT', Close: '3000', ATR: '20' });
  const signal = await operator.postSignal({ symbol: 'ETHUSDT', price: '3000', processor });
  expect(signal.successfulTrades).toBe(5);

  // The paper exchange fills every order, so turn some trades into refused ones in the database.
  const trade = (user: { id: string }, change: string) => ({
    text: `update trades set ${change} where signal_id = $1 and user_id = $2`,
    values: [signal.id, user.id],
  });
  const failed = (error: string) => `success = false, fill_status = 'unfilled', error = ${error}`;
  const step = (user: { id: string }, change: string) => ({
    text: `update workflow_steps set ${change}
           where workflow_id = $1 and user_id = $2 and step_type = 'order_submission'`,
    values: [signal.workflowId ?? '', user.id],
  });
  await runStatements(server, [
    // Another worker has it, or the sweep would find it filled and end it.
    {
      text: `insert into leases (key, holder, lease_until)
             select 'trade:' || id, 'this test', now() + interval '5 minutes' from trades
             where signal_id = $1 and user_id = $2
             on conflict (key) do update
               set holder = excluded.holder, version = default, lease_until = excluded.lease_until`,
      values: [signal.id, waiting.id],
    },
    trade(ann, failed("'Order not filled: 12.5 USDT available'")),
    trade(bob, failed("'Order not filled: 9 USDT available'")),
    trade(nameless, failed('null')),
    trade(waiting, "state = 'working', success = null, fill_status = null, due_at = now()"),
    step(ann, "status = 'failed', error_message = 'Order not filled'"),
    step(bob, "status = 'failed', error_message = 'No balance; user will be skipped'"),
    step(waiting, "status = 'processing'"),
  ]);

  await page.goto(`/signals?processor=${processor}`);
  const row = tableRows(page, 'Signal History');
  await expect(row).toContainText('20%');
  await row.getByRole('button', { name: /^1\/5, trades of signal/ }).click();
  const trades = dialog(page, 'Trade Details - Signal');
  for (const [name, value] of [
    ['Successful', '1'],
    ['Failed', '3'],
    ['Total', '5'],
    ['Success Rate', '20%'],
  ] as const) {
    const count = trades.getByText(name, { exact: true }).locator('xpath=following-sibling::dd');
    await expect(count).toHaveText(value);
  }
  const success = trades.getByRole('article').filter({ hasText: filled.username });
  for (const text of ['Filled', 'ETHUSDT', '3000', 'buy', 'Fee', 'Bitget']) {
    await expect(success).toContainText(text);
  }
  const unfilled = trades.getByRole('article').filter({ hasText: 'Order not filled' });
  await expect(unfilled).toContainText('2 (67%)');
  await expect(unfilled.getByRole('listitem')).toHaveCount(2);
  for (const [user, available] of [
    [ann, '12.5 USDT'],
    [bob, '9 USDT'],
  ] as const) {
    const affected = unfilled.getByRole('listitem').filter({ hasText: user.username });
    await expect(affected).toContainText(`Order not filled: ${available} available`);
  }
  const unknown = trades.getByRole('article').filter({ hasText: 'Unknown error' });
  await expect(unknown).toContainText('1 (33%)');
  await expect(unknown).toContainText(nameless.username);
  await expect(trades).toContainText(`${waiting.username}: Order under way`);

  // The overall result of each user's steps.
  await page.goto(`/automation-workflows?dialog=steps&workflow=${signal.workflowId}`);
  const steps = dialog(page, 'Workflow Execution Steps');
  for (const [user, result] of [
    [filled, 'Success'],
    [ann, 'Failed'],
    [bob, 'Skipped'],
    [nameless, 'Success'],
    [waiting, 'In progress'],
  ] as const) {
    const summary = steps.locator('summary').filter({ hasText: user.username });
    await expect(summary.getByText(result, { exact: true })).toBeVisible();
  }
  for (const heading of ['Pipeline', 'All Users', 'Users']) {
    await expect(steps.getByRole('heading', { name: heading, exact: true })).toBeVisible();
  }
  await steps.getByText('Step 7', { exact: true }).click();
  const processing = steps.getByRole('listitem').filter({ hasText: 'Process All Users' });
  await processing.getByText('Technical details').click();
  await processing.getByText('Output data').click();
  await expect(processing.getByRole('region', { name: 'Output data' })).toContainText('"successful": 5');
});
